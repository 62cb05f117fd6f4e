/** What the played address tells of models, and what is said of their ends. */
import type { Lifecycle } from '../types/Lifecycle';
import type { ModelNotice } from '../types/ModelNotice';
import type { ModelProfile } from '../types/ModelProfile';
import { currentTime } from '../../app/clock.svelte';

/** A person hears of the end of a model this many days before it. */
const SOON_DAYS = 90;
const DAY_MS = 86_400_000;

interface Known {
  lifecycle: Lifecycle;
  retiresOn?: string;
  successor?: string;
  small?: boolean;
}

/** As of the day of the played queue, 12 February 2026. */
const KNOWN: Record<string, Known> = {
  'claude-opus-4-6': { lifecycle: 'active' },
  'claude-sonnet-4-6': { lifecycle: 'active' },
  'claude-haiku-4-5': { lifecycle: 'active', small: true },
  'claude-opus-4-5': {
    lifecycle: 'deprecated',
    retiresOn: '2026-04-22',
    successor: 'claude-opus-4-6',
    small: true,
  },
  'claude-sonnet-4-5': {
    lifecycle: 'deprecated',
    retiresOn: '2026-01-30',
    successor: 'claude-sonnet-4-6',
    small: true,
  },
};

export function profileOf(model: string): ModelProfile {
  const known = KNOWN[model];
  const small = known?.small ?? known === undefined;
  const ours = known !== undefined;
  return {
    model,
    lifecycle: known?.lifecycle ?? 'active',
    retiresOn: known?.retiresOn ?? null,
    keptUntil: null,
    successor: known?.successor ?? null,
    contextTokens: small ? 200_000 : 1_000_000,
    maxOutputTokens: small ? 64_000 : 128_000,
    pdfPages: small ? 100 : 600,
    newerTokenizer: false,
    thinks: false,
    efforts: ours ? ['low', 'medium', 'high', 'max'] : [],
    citations: true,
    structuredOutputs: true,
    batches: true,
    source: ours ? 'told' : 'assumed',
  };
}

/** What should be known of the end of a model; `null` where none is near. */
export function noticeOf(model: string): ModelNotice | null {
  const { retiresOn, successor, lifecycle } = profileOf(model);
  if (retiresOn === null) return null;
  const days = Math.ceil((new Date(`${retiresOn}T00:00:00`).getTime() - currentTime()) / DAY_MS);
  if (days > SOON_DAYS && lifecycle !== 'deprecated') return null;
  const what =
    days <= 0
      ? `${model} was retired on ${retiresOn} and answers no more.`
      : `${model} is deprecated: it is retired on ${retiresOn}, in ${days} days.`;
  return {
    model,
    lifecycle: days <= 0 ? 'retired' : 'deprecated',
    retiresOn,
    daysLeft: Math.max(0, days),
    successor,
    message: `${what} Use ${successor ?? 'another'} instead.`,
  };
}
