/** The played endpoint: presets with their addresses, extra headers, what can be asked for, and the test of the key. */
import type { Backend } from '../backend';
import type { EndpointAbilities } from '../types/EndpointAbilities';
import type { EndpointKind } from '../types/EndpointKind';
import type { EndpointView } from '../types/EndpointView';
import type { KeySource } from '../types/KeySource';
import type { KeyTest } from '../types/KeyTest';
import type { Problem } from '../types/Problem';
import type { PlayedEngine } from './engine';
import type { Answer } from './index';
import { noticeOf, profileOf } from './models';

const ANTHROPIC = 'https://api.anthropic.com';

const ADDRESSES: Record<EndpointKind, string | null> = {
  anthropic: ANTHROPIC,
  litellm: 'http://localhost:4000',
  openrouter: 'https://openrouter.ai/api',
  ollama: 'http://localhost:11434',
  'lm-studio': 'http://localhost:1234',
  other: null,
};

/** The models of each endpoint, newest first. */
const MODELS: Record<EndpointKind, string[]> = {
  anthropic: ['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-opus-4-5'],
  litellm: ['claude-sonnet-4-6', 'claude-haiku-4-5'],
  openrouter: ['anthropic/claude-sonnet-4.6', 'anthropic/claude-haiku-4.5'],
  ollama: ['llama3.3', 'qwen3'],
  'lm-studio': ['qwen3-8b'],
  other: ['claude-sonnet-4-6'],
};

function abilitiesOf(kind: EndpointKind): EndpointAbilities {
  const textAlone = kind === 'ollama' || kind === 'lm-studio';
  const all = kind === 'anthropic';
  return {
    documents: !textAlone,
    citations: !textAlone,
    structuredOutputs: !textAlone,
    countTokens: !textAlone && kind !== 'openrouter',
    batches: all,
    files: all,
    models: true,
  };
}

function kindOf(address: string): EndpointKind {
  const found = (Object.keys(ADDRESSES) as EndpointKind[]).find(
    (kind) => kind !== 'litellm' && ADDRESSES[kind] === address,
  );
  return found ?? 'other';
}

/** Headers of the played endpoint: the names alone, as the engine shows them. */
export class PlayedHeaders {
  names: string[] = [];
  source: KeySource = 'none';

  constructor(given: string | null) {
    if (given === null) return;
    this.names = given.split(',');
    this.source = 'keychain';
  }
}

export function endpointOf(engine: PlayedEngine): EndpointView {
  const { settings, headers } = engine;
  const address = settings.baseUrl ?? ANTHROPIC;
  const kind = settings.endpoint ?? kindOf(address);
  const usual = kind === 'openrouter' || kind === 'ollama' ? 'bearer' : 'api-key';
  const abilities = abilitiesOf(kind);
  return {
    kind,
    address,
    fromEnvironment: false,
    auth: engine.key.source === 'environment-token' ? 'bearer' : (settings.auth ?? usual),
    apiVersion: kind === 'anthropic' ? '2026-10-21' : '2023-06-01',
    headerNames: headers.names,
    headerSource: headers.source,
    abilities,
    textOnly: address !== ANTHROPIC && (settings.textOnly || !abilities.documents),
    local: /^http:\/\/(localhost|127\.|192\.168\.|10\.)/.test(address),
  };
}

type Commands = Pick<
  Backend,
  | 'endpoint'
  | 'useEndpoint'
  | 'saveHeaders'
  | 'modelsTold'
  | 'modelProfiles'
  | 'chooseCertificates'
  | 'testKey'
>;

const refuse = (code: Problem['code'], message: string, hint: string): never => {
  throw { code, message, hint } satisfies Problem;
};

export function endpointCommands(engine: PlayedEngine, answer: Answer): Commands {
  const told = (): string[] => MODELS[endpointOf(engine).kind];
  return {
    endpoint: () => answer('endpoint', () => endpointOf(engine)),
    useEndpoint: (kind, given, model) =>
      answer('useEndpoint', () => {
        const address = given?.trim() || ADDRESSES[kind];
        if (!address) {
          return refuse('bad-input', 'Nobody knows where this endpoint is.', 'Give its address.');
        }
        if (address.includes('@')) {
          return refuse(
            'bad-input',
            'The address holds a name or a password, which would be stored and shown with it.',
            'Leave them out. What a gateway wants besides the key goes into extra headers.',
          );
        }
        engine.set(() => {
          engine.settings = {
            ...engine.settings,
            baseUrl: address === ANTHROPIC ? null : address.replace(/\/+$/, ''),
            endpoint: kind === kindOf(address) ? null : kind,
            auth: null,
            textOnly: !abilitiesOf(kind).documents,
            model: model ?? engine.settings.model,
          };
          const runsModels = kind === 'ollama' || kind === 'lm-studio';
          if (runsModels && endpointOf(engine).local) engine.prices.free(engine.settings.model);
        });
        return endpointOf(engine);
      }),
    saveHeaders: (text, sessionOnly) =>
      answer('saveHeaders', () => {
        const names = text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map((line) => (line.split(':')[0] ?? '').trim().toLowerCase());
        engine.set(() => {
          engine.headers.names = names;
          engine.headers.source = names.length === 0 ? 'none' : sessionOnly ? 'session' : 'keychain';
        });
        return endpointOf(engine);
      }),
    modelsTold: () => answer('modelsTold', () => told().map(profileOf)),
    modelProfiles: (models) => answer('modelProfiles', () => models.map(profileOf)),
    chooseCertificates: () =>
      answer('chooseCertificates', () => ['/home/mika/certificates/office-gateway.pem']),
    testKey: () => answer('testKey', () => tested(engine, told())),
  };
}

function tested(engine: PlayedEngine, models: string[]): KeyTest {
  const endpoint = endpointOf(engine);
  if (engine.key.ending === 'nope') {
    return refuse('key-refused', 'The provider refused the key (401).', 'Paste it again, or make a new one.');
  }
  if (engine.key.source === 'none' && endpoint.kind === 'anthropic') {
    return refuse('key-missing', 'No API key is set.', 'Add an Anthropic API key.');
  }
  if (endpoint.address.includes('unreachable')) {
    return refuse(
      'provider-unavailable',
      `${endpoint.address} could not be reached: connection refused.`,
      'Check the address and the network, then test again.',
    );
  }
  const { model } = engine.settings;
  const price = engine.prices.of(model);
  const tells = endpoint.kind === 'anthropic';
  return {
    models,
    modelAvailable: models.includes(model) && noticeOf(model)?.lifecycle !== 'retired',
    requestsPerMinute: tells ? 1000 : null,
    inputTokensPerMinute: tells ? 450_000 : null,
    outputTokensPerMinute: tells ? 90_000 : null,
    model: profileOf(model),
    notice: noticeOf(model),
    priceKnown: price !== undefined,
    free: price !== undefined && price.input === 0 && price.output === 0,
    profiles: models.map(profileOf),
  };
}
