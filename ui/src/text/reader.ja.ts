/** 要約と PDF を並べて読む画面。 */
import type { PageRange } from '../reader/marks';
import { count } from './format';
import type { Messages } from './messages';

const range = ({ from, to }: PageRange): string =>
  from === to ? count(from) : `${count(from)}〜${count(to)}`;

export const readerJa: Messages['reader'] = {
  label: '要約',
  pdf: 'PDF',
  side: '表示',
  summaryBy: (model, template) => `${model} による要約、テンプレート: ${template}`,
  position: (n, of) => `${count(of)} 件中 ${count(n)} 件目`,
  toReview: (n, of) => `要確認 ${count(of)} 件中 ${count(n)} 件目`,
  previous: '前のジョブ',
  next: '次のジョブ',
  export: '書き出し',
  quotesFound: (n) => `引用文 ${count(n)} 件はすべて原文と一致`,
  quotesDiffer: (n, of) => `引用文 ${count(of)} 件中 ${count(n)} 件が不一致`,
  quotesUnchecked: '引用文は未照合',
  quotesNoText: '引用文は未照合（PDF にテキストなし）',
  pageMark: (page, last) => (page === last ? `p.${count(page)}` : `pp.${count(page)}–${count(last)}`),
  openPage: (page) => `${count(page)} ページを開く`,
  differs: (words) => `原文と不一致。PDF では “${words}”`,
  verdict: {
    found: '原文と一致',
    'not-found': 'PDF に見つかりません',
    unchecked: '未照合：PDF のテキストを最後まで読めませんでした',
  },
  copyWords: '原文をコピー',
  wordsCopied: '原文をコピーしました',
  citedOf: (n, of) => `${count(of)} ページ中 ${count(n)} ページを引用`,
  mapLabel: (n, of, open) =>
    `${count(of)} ページ中 ${count(n)} ページを引用${open === null ? '' : `、${count(open)} ページを表示中`}`,
  everyPage: 'すべてのページが引用されています。',
  never: (ranges, n, references, last) => {
    const pages = ranges ? ranges.map(range).join('、') : `${count(last)} ページ中 ${count(n)} ページ`;
    const end = references === null ? '' : `（${range({ from: references, to: last })} は参考文献）`;
    return `引用のないページ: ${pages}${end}。`;
  },
  pageOf: (page, of) => `${count(page)}／${count(of)} ページ`,
  pageLabel: (page) => `${count(page)} ページ`,
  previousPage: '前のページ',
  nextPage: '次のページ',
  zoomIn: '拡大',
  zoomOut: '縮小',
  fit: 'ウィンドウに合わせる',
  zoomFit: (percent) => `${count(percent)}%、ウィンドウに合わせる`,
  openOutside: 'PDF ビューアーで開く',
  opening: 'PDF を開いています。',
  note: {
    highlighted: '引用箇所を強調表示',
    named: '引用文なしで示されたページ',
    'not-located': '引用箇所の位置は不明',
  },
  why: {
    'no-document': { title: 'このジョブに PDF はありません', hint: '要約に影響はありません。' },
    'file-missing': {
      title: 'PDF が元の場所にありません',
      hint: '元の場所に戻すと、要約と並べて読めます。要約に影響はありません。',
    },
    'file-changed': {
      title: 'PDF は追加後に変更されています',
      hint: '要約とは別の内容のため、並べて表示しません。今の内容を要約するには、もう一度追加してください。',
    },
    locked: {
      title: 'PDF はパスワードでロックされています',
      hint: 'パスワードはもう保持していません。PDF ビューアーで開いてください。要約に影響はありません。',
    },
    broken: {
      title: 'PDF の構造が壊れていて表示できません',
      hint: 'PDF ビューアーなら開けることがあります。要約に影響はありません。',
    },
    failed: {
      title: 'ここでは PDF を表示できません',
      hint: 'PDF ビューアーで開いてください。要約に影響はありません。',
    },
  },
};
