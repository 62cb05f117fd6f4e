/** PDF のパスワード: 開始前と、パスワードがなく失敗したジョブで尋ねる。 */
import { count } from './format';
import type { Messages } from './messages';

export const passwordsJa: Messages['passwords'] = {
  label: 'パスワード',
  unlock: '解除する',
  unlocking: '試しています…',
  show: 'パスワードを表示',
  hide: 'パスワードを隠す',
  kept: 'この端末でのみ使い、Gistmill の終了時に破棄します。',
  opened: (n) => `${count(n)} ファイルが開きました。`,
  openedSome: (n, left) => `${count(n)} ファイルが開きました。残り ${count(left)} 件は別のパスワードです。`,
  wrong: (n) =>
    n === 1
      ? 'このパスワードでは開きません。大文字・小文字と入力言語を確認してください。'
      : `このパスワードでは ${count(n)} 件のどれも開きません。大文字・小文字と入力言語を確認してください。`,
  enter: 'パスワードを入力…',
  title: (n) => (n === 1 ? 'ファイルの解除' : `${count(n)} ファイルの解除`),
  note: (n) =>
    n === 1
      ? '開けば、ジョブはキューに戻ります。'
      : 'すべてのファイルで試し、開いたファイルのジョブをキューに戻します。',
  unlockAndRun: (n) => (n === 1 ? '解除して実行' : `解除して ${count(n)} 件を実行`),
  back: (n) => `${count(n)} 件をキューに戻しました`,
  left: (n) => `${count(n)} 件は別のパスワードが必要です。`,
};
