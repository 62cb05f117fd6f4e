/** ジョブと結果の書き出し。 */
import { count } from './format';
import type { Messages } from './messages';

export const exportsJa: Messages['exports'] = {
  title: '書き出し',
  action: '書き出し…',
  selection: (n) => `${count(n)} 件を書き出し…`,
  job: 'このジョブを書き出し…',
  tip: (n) => `条件に合う ${count(n)} 件を書き出し`,
  what: (n) => `${count(n)} 件のジョブと、その結果。`,
  format: '形式',
  formats: { csv: 'CSV', jsonl: 'JSONL', markdown: 'Markdown' },
  notes: {
    csv: '1 行に 1 件、項目は列に。表計算向け。',
    jsonl: '1 行に 1 つの JSON。プログラム向け。',
    markdown: 'すべての要約を順に。読むため。',
  },
  mark: 'Excel 用: BOM を付ける',
  markNote: '付けないと Excel で日本語が文字化けします。',
  where: '次に保存場所を選びます。外部には送信しません。',
  run: (n) => `${count(n)} 件を書き出す`,
  busy: '書き出し中…',
  nothing: '該当するジョブがないため、書き出すものがありません。',
  done: (n, size) => `${count(n)} 件を書き出しました（${size}）`,
  withoutResult: (n) => `うち ${count(n)} 件はまだ結果がありません。`,
  unreadable: (n) => `結果 ${count(n)} 件を読み取れず、本文なしで書き出しました。`,
  open: '開く',
  nameAll: 'ジョブ',
  nameSelection: '選択したジョブ',
};
