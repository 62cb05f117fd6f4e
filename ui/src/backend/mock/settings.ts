/** The played settings, as the design's pictures have them, with what the address changes. */
import type { EndpointKind } from '../types/EndpointKind';
import type { Settings } from '../types/Settings';
import { PLAYED_BUCKET } from './bucket';
import { MAX_TOKENS, MODEL } from './fixtures';

export function playedSettings(query: URLSearchParams): Settings {
  const dayCap = query.get('dayCap');
  const batchCap = query.get('batchCap');
  const hours = query.get('hours')?.split('-').map(Number);
  return {
    provider: 'claude',
    model: query.get('model') ?? MODEL,
    maxTokens: MAX_TOKENS,
    baseUrl: query.get('baseUrl'),
    endpoint: query.get('endpoint') as EndpointKind | null,
    auth: null,
    caFile: query.has('ca') ? '/etc/ssl/office-gateway.pem' : null,
    textOnly: query.has('textOnly'),
    copiesTo: 'beside-pdf',
    outputFolder: null,
    nameTaken: 'number',
    batchCsv: true,
    batchJsonl: false,
    batchMarkdown: true,
    bucket: query.has('bucket') && query.get('bucket') !== 'none' ? PLAYED_BUCKET : null,
    language: (query.get('lang') ?? 'system') as Settings['language'],
    theme: (query.get('theme') ?? 'system') as Settings['theme'],
    singleKeys: !query.has('noSingleKeys'),
    welcomed: !query.has('welcome'),
    requestsPerMinute: null,
    inputTokensPerMinute: null,
    outputTokensPerMinute: null,
    tokensPerMinute: 400_000,
    countsPerMinute: 500,
    dayCapMicros: Number(dayCap ?? 40) * 1_000_000,
    monthCapMicros: 600_000_000,
    batchCapMicros: batchCap === null ? null : Number(batchCap) * 1_000_000,
    bulkFloor: 10,
    quietHours: hours ? { fromMinute: (hours[0] ?? 0) * 60, toMinute: (hours[1] ?? 0) * 60 } : null,
    retentionDays: null,
    webhookUrl: query.has('webhook') ? 'https://hooks.example.org/gistmill' : null,
    webhookBatches: false,
    notifyBatches: true,
  };
}
