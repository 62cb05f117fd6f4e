/** 待っている理由。表のセル用（2 行）と、ジョブにもレーンにも使える文。 */
import type { Messages } from './messages';

export const waitingJa: Messages['waiting'] = {
  startsAt: (time) => `${time} に開始`,
  tokens: 'トークン枠を使い切り',
  requests: 'リクエスト枠を使い切り',
  larger: '上限より大きい',
  largerNote: '空いたときに単独で実行',
  cap: { batch: 'バッチの支出上限', day: '今日の支出上限', month: '今月の支出上限' },
  capNote: (needed) => `対処: ${needed} に上げる`,
  price: '料金が不明',
  priceNote: '対処: 料金を設定',
  behindHigh: '優先レーンが先',
  behindHighNote: '優先レーンの後に開始',
  batchPaused: 'バッチが停止中',
  batchPausedNote: 'バッチの再開待ち',
  jobPaused: '一時停止中',
  jobPausedNote: '再開を待っています',
  hours: '一括の稼働時間外',
  uploading: 'アップロード中',
  uploadingNote: 'R2 への保存で完了',
  checksIn: (time) => `${time} 後に確認`,
  sentence: {
    ready: '枠が空きしだい開始します。',
    delayed: (time) => `新しいジョブは少し待ってから開始します。次の開始は ${time} 後です。`,
    retrying: (cause, time) => `${cause}。次の試行は ${time} 後です。`,
    failedBefore: '前回の試行は一時的な理由で失敗しました',
    tokens: (time) => `この 1 分のトークン枠を使い切りました。次の開始は ${time} 後です。`,
    requests: (time) => `この 1 分のリクエスト枠を使い切りました。次の開始は ${time} 後です。`,
    larger: '次のジョブは 1 分の枠より大きいため、ほかに実行中のものがなくなりしだい単独で実行します。',
    capDay: (cap, until, needed) =>
      `今日の支出上限 ${cap} に達しました。${until} に再開、${needed} に上げると次を開始できます。`,
    capMonth: (cap, until, needed) =>
      `今月の支出上限 ${cap} に達しました。${until} に再開、${needed} に上げると次を開始できます。`,
    capBatch: (cap, needed) =>
      `バッチの支出上限 ${cap} に達しました。${needed} に上げると次のジョブを開始できます。`,
    price: (model) => `${model} の料金が不明です。料金を設定するまで送信しません。`,
    behindHigh: '優先レーンが先です。空きができると一括レーンを開始します。',
    lanePaused: (lane) => `${lane}レーンを一時停止しています。`,
    batchPaused: 'バッチを一時停止しています。',
    jobPaused: '待機中のジョブをすべて一時停止しています。',
    jobPausedAlone: 'このジョブを一時停止しています。',
    uploading: '要約はこの端末に保存済みです。R2 に保存されると完了です。',
    uploadingMet: (message) => `要約はこの端末に保存済みですが、R2 にはまだありません: ${message}`,
    hours: (time) => `稼働時間外です。一括レーンは ${time} に再開します。`,
    offline: (time) => `接続がありません。${time} 後に再確認します。データは失われません。`,
  },
};
