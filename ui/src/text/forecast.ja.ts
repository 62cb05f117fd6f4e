/** 見込み: トークン・料金・終了時刻と、上限に収まる件数。 */
import { count } from './format';
import type { Messages } from './messages';

const seconds = (n: number): string => (n < 60 ? `${count(n)} 秒` : `${count(Math.ceil(n / 60))} 分`);

export const forecastJa: Messages['forecast'] = {
  title: 'いつまでに、いくらで',
  cards: { now: 'いますぐ', morning: '朝までに、半額で' },
  batchNote: 'バッチ API 経由',
  counted: '入力は計測値、出力は幅で表示',
  partlyCounted: '入力は一部計測値、出力は幅で表示',
  estimated: '入力は見積もり、出力は幅で表示',
  expected: '予想',
  atWorst: '最大',
  priceUnknown: '料金は不明',
  free: '無料、端末内で完結',
  working: '計算しています…',
  done: (time) => `${time} 完了`,
  often: (time) => `早ければ ${time}`,
  atLatest: (time) => `遅くとも ${time}`,
  takes: (time) => `開始後 ${time}`,
  limitedBy: {
    answers: '1 件の回答にかかる時間で決まります',
    concurrency: '同時実行数の範囲で進みます',
    tokens: 'トークン／分の上限の範囲で進みます',
    requests: 'リクエスト／分の上限の範囲で進みます',
    hours: '一括レーンの稼働時間内で進みます',
    provider: '毎分の上限は消費しません',
  },
  left: {
    batch: (money) => `上限 ${money}`,
    day: (money) => `今日の残り ${money}`,
    month: (money) => `今月の残り ${money}`,
  },
  and: (one, other) => `${one} と${other}`,
  over: (limit, fit, jobs) => `${limit} を超過: ${count(jobs)} 件中 ${count(fit)} 件ほどで止まります`,
  atWorstOver: (limit, fit, jobs) =>
    `予想額は収まります。最大の場合、${limit} で開始できるのは ${count(jobs)} 件中 ${count(fit)} 件です`,
  fits: (limits) => `${limits} に収まります`,
  noCap: '支出上限は未設定です',
  output: (expected, low, high) =>
    `1 件の出力は約 ${count(expected)} トークン、多くは ${count(low)}〜${count(high)}`,
  guessed: 'テンプレートによる推定',
  byAnswers: (n) => `以前の回答 ${count(n)} 件による`,
  range: (low, high) => `${low}〜${high}`,
  byMorning: '朝までに',
  tokens: {
    counted: '入力トークン（プロバイダーによる無料の計測値）',
    counting: '入力トークン（プロバイダーが無料で計測中）',
    estimated: '入力トークンの見積もり',
    within: (percent) => `入力トークンの見積もり（誤差は通常 ${count(percent)} % 以内）`,
    partly: (n, of) => `入力トークン（${count(of)} 件中 ${count(n)} 件を計測、ほかは見積もり）`,
    offline: '入力トークンの見積もり（接続後に計測）',
    noKey: '入力トークンの見積もり（キーの設定後に計測）',
  },
  countingLabel: 'トークンを計測中',
  progress: (n, of) => `${count(of)} 件中 ${count(n)} 件を計測`,
  timeLeft: (left) => `残り約 ${seconds(left)}`,
};
