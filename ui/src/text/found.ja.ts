/** ドロップの中身: 処理できないもの、知っておくとよいこと、対象外のもの。 */
import { count } from './format';
import type { Messages } from './messages';

export const foundJa: Messages['found'] = {
  cannotWork: (n) => `処理できないファイル ${count(n)} 件`,
  cannotWorkNote: 'ほかのファイルはそのまま進みます。',
  allFine: 'すべてのファイルを要約できます。',
  worthKnowing: '知っておくとよいこと',
  worthKnowingNote: '以下のファイルも要約します。',
  leftOut: (n) => `対象外 ${count(n)} 件`,
  sameAs: (path) => `${path} と同じ`,
  givenTwice: '重複した指定',
  filesOf: (name) => `ファイル: ${name}`,
};

export const noticeJa: Messages['notice'] = {
  decrypted: {
    name: '変更のみ制限',
    meaning: 'パスワードなしで開けます。制限を外したコピーを送ります。',
  },
  unlocked: {
    name: 'パスワードで解除済み',
    meaning: '解除したコピーを送ります。元のファイルとパスワードはこの端末から出ません。',
  },
  repaired: {
    name: '修復済み',
    meaning: '内部の目録が壊れていたため、修復したコピーを送ります。元のファイルは変わりません。',
  },
  long: {
    name: '分割して処理',
    meaning: '1 回の呼び出しに収まらないため、部分ごとに呼び出し、最後に 1 回でまとめます。',
  },
  scanned: {
    name: 'スキャン（テキストなし）',
    meaning: 'Claude がページの画像を読みます。テキストのみのテンプレートとオフライン要約では使えません。',
  },
  'text-unreliable': {
    name: 'テキストが不確か',
    meaning: '判別できない文字が多くあります。テキストのみの場合を除き、ページの画像も送ります。',
  },
  'fields-unseen': {
    name: '見えないおそれのある入力欄',
    meaning: '表示用の情報がない入力値は、要約に含まれないことがあります。',
  },
  attachments: {
    name: '添付ファイル付き',
    meaning: '送るのは PDF 本体のみで、添付ファイルは送りません。',
  },
  'pages-uncertain': {
    name: 'ページ数が不確か',
    meaning: '2 通りの数え方で結果が異なるため、料金がずれることがあります。',
  },
};

export const skipJa: Messages['skip'] = {
  hidden: { name: '隠しファイル', meaning: '隠しファイルと隠しフォルダーは調べません。' },
  'other-kind': { name: 'PDF ではない', meaning: '.pdf で終わるファイルのみを受け付けます。' },
  'link-loop': {
    name: '循環または行き先のないリンク',
    meaning: 'たどっても新しいファイルは見つかりません。',
  },
  duplicate: {
    name: 'ほかのファイルと同じ内容',
    meaning: '要約は同じになるため、1 つで足ります。',
  },
  unreadable: {
    name: '読み取れない',
    meaning: '読み取りを許可してから、追加し直してください。',
  },
  missing: { name: '存在しない', meaning: '読み取る前に移動または削除されました。' },
  'too-many': {
    name: '1 回のドロップの上限を超過',
    meaning: '残りは次のドロップで追加してください。',
  },
  'own-output': { name: 'Gistmill 自身のデータ', meaning: '要約をさらに要約することはありません。' },
  'not-a-file': {
    name: 'ファイルではない',
    meaning: 'ソケット・パイプ・デバイスには読み取る内容がありません。',
  },
  'name-not-text': {
    name: '名前が読めない',
    meaning: 'ファイル名が正しい文字列ではありません。名前を変えてから追加し直してください。',
  },
  'still-written': {
    name: 'コピーの途中',
    meaning: '読み取り中に内容が変わりました。コピーの完了後に追加し直してください。',
  },
};
