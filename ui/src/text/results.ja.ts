/** 結果の由来と行き先、以前の実行。 */
import type { Messages } from './messages';

export const resultsJa: Messages['results'] = {
  reused: '再利用',
  reusedNote: '以前の結果から',
  reusedFrom: (day) => `このファイルの以前の結果（${day}）を再利用、$0.00。`,
  source: '元のジョブを表示',
  askAgain: '再実行…',
  copiedTo: '出力フォルダーにコピーがあります',
  copyRetry: (time) => `${time} 後に再試行します。`,
  copyAgain: '再試行',
  copiesRetried: (n) => (n === 0 ? '再試行が必要なコピーはありません' : 'コピーを再試行します'),
  uploaded: 'バケットに保存済み',
  uploadWaiting: 'アップロード待ち',
  uploadAt: (time) => `${time} 後に再試行します。`,
  uploadSoon: 'まもなく試行します。',
  uploadTries: (n) => `試行 ${n} 回。`,
  uploadFailed: 'アップロードできませんでした',
  uploadRetry: '再試行',
  uploadSettings: '保存先',
  older: '以前の実行',
  olderRun: (n) => `${n} 回目`,
  openOlder: (n) => `${n} 回目の結果を開く`,
  open: '開く',
  values: '指定した値',
};
