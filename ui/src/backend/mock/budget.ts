/** The played budget: what the last 60 s used, and what calls cost. */
import type { BudgetView } from '../types/BudgetView';
import type { Money } from '../types/Money';
import type { ModelPrice } from '../types/ModelPrice';
import type { Settings } from '../types/Settings';
import type { WaitingReason } from '../types/WaitingReason';
import type { PlayedJob } from './fixtures';

const WINDOW_MS = 60_000;
const TOKENS_PER_PAGE = 2030;
const EXPECTED_OUTPUT = 1000;
/** What the provider of the played key allows. */
export const PROVIDER_LIMITS = { requests: 1000, input: 450_000, output: 90_000 };

/** One call's share of the window. */
export interface Use {
  at: number;
  input: number;
  output: number;
}

/** Of one call: of a long document that is one part. */
export function inputOf(job: Pick<PlayedJob, 'pages'> & Partial<Pick<PlayedJob, 'parts'>>): number {
  return Math.round(((job.pages ?? 1) * TOKENS_PER_PAGE) / (job.parts?.total ?? 1));
}

/** What one attempt reserves of the window. */
export function reservationOf(job: PlayedJob, at: number): Use {
  return { at, input: inputOf(job), output: Math.min(job.maxTokens, EXPECTED_OUTPUT) };
}

/** Micro-dollars of one attempt, as expected and at worst. */
export function costOf(
  job: Pick<PlayedJob, 'pages' | 'maxTokens'>,
  price: ModelPrice,
): { expected: number; atWorst: number } {
  const cost = (output: number): number =>
    Math.round((inputOf(job) * price.input + output * price.output) / 1_000_000);
  return { expected: cost(Math.min(job.maxTokens, EXPECTED_OUTPUT)), atWorst: cost(job.maxTokens) };
}

export function committed(money: Money): number {
  return money.settledMicros + money.unknownMicros + money.reservedMicros;
}

const lower = (own: number | null, told: number): number => Math.min(own ?? told, told);

/** Limits, and what is used of them by `uses` that are not older than the window. */
export function gauges(
  uses: Use[],
  settings: Settings,
): Pick<BudgetView, 'requests' | 'inputTokens' | 'outputTokens' | 'tokens'> {
  const input = uses.reduce((sum, use) => sum + use.input, 0);
  const output = uses.reduce((sum, use) => sum + use.output, 0);
  return {
    requests: {
      used: uses.length,
      limit: lower(settings.requestsPerMinute, PROVIDER_LIMITS.requests),
    },
    inputTokens: { used: input, limit: lower(settings.inputTokensPerMinute, PROVIDER_LIMITS.input) },
    outputTokens: { used: output, limit: lower(settings.outputTokensPerMinute, PROVIDER_LIMITS.output) },
    tokens: { used: input + output, limit: settings.tokensPerMinute },
  };
}

/** Why a call does not fit the window now, if it does not. */
export function budgetObstacle(
  need: Use,
  uses: Use[],
  settings: Settings,
  now: number,
): WaitingReason | null {
  const over = (left: Use[]): 'requests-budget' | 'token-budget' | null => {
    const used = gauges([...left, need], settings);
    if (used.requests.used > (used.requests.limit ?? Infinity)) return 'requests-budget';
    const full = [used.inputTokens, used.outputTokens, used.tokens].some(
      (gauge) => gauge.used > (gauge.limit ?? Infinity),
    );
    return full ? 'token-budget' : null;
  };
  const reason = over(uses);
  if (reason === null || uses.length === 0) return null;
  if (over([]) !== null) return { reason: 'larger-than-budget' };
  const oldestFirst = [...uses].sort((one, other) => one.at - other.at);
  while (over(oldestFirst) !== null) {
    const leaves = oldestFirst.shift();
    if (!leaves) break;
    if (over(oldestFirst) === null) return { reason, until: Math.max(now + 1000, leaves.at + WINDOW_MS) };
  }
  return null;
}

export function recent(uses: Use[], now: number): Use[] {
  return uses.filter((use) => use.at > now - WINDOW_MS);
}

/** The next local midnight and the next first of the month. */
export function nextEnds(now: number): { day: number; month: number } {
  const date = new Date(now);
  return {
    day: new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime(),
    month: new Date(date.getFullYear(), date.getMonth() + 1, 1).getTime(),
  };
}
