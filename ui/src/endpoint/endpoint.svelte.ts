/** Another endpoint as it is being chosen: a draft, since jobs are asked there as soon as it is saved. */
import type { App } from '../app/app.svelte';
import { sayProblem } from '../app/toasts.svelte';
import { toProblem } from '../backend/backend';
import type { EndpointKind } from '../backend/types/EndpointKind';
import { t } from '../text/text.svelte';
import { kindOf, nameOf, USUAL_ADDRESS } from './presets';

export class EndpointForm {
  kind = $state<EndpointKind>('anthropic');
  address = $state('');
  /** The model there; empty for the present one. */
  model = $state('');
  busy = $state(false);
  /** What is wrong with the address, by the window or by the engine. */
  wrong = $state<string | null>(null);

  private chosen = false;

  constructor(private readonly app: App) {
    this.reset();
  }

  /** Goes back to what is in force. */
  reset(): void {
    const { kind, address } = this.app.endpoint;
    this.kind = kind;
    this.address = address;
    this.model = '';
    this.chosen = false;
    this.wrong = null;
  }

  get dirty(): boolean {
    const { kind, address } = this.app.endpoint;
    return this.kind !== kind || this.address.trim() !== address;
  }

  choose(kind: EndpointKind): void {
    const { endpoint } = this.app;
    this.kind = kind;
    this.chosen = true;
    this.address = kind === endpoint.kind ? endpoint.address : USUAL_ADDRESS[kind];
    this.wrong = null;
  }

  type(address: string): void {
    this.address = address;
    this.wrong = null;
    // Who is at an address shows in it, until a person says otherwise.
    if (!this.chosen) this.kind = kindOf(address.trim());
  }

  check(): boolean {
    this.wrong = faultOf(this.address.trim());
    return this.wrong === null;
  }

  /** Asks there from now on. Answers whether it does. */
  async save(): Promise<boolean> {
    if (this.busy || !this.check()) return false;
    this.busy = true;
    try {
      const model = this.model.trim();
      await this.app.backend.useEndpoint(this.kind, this.address.trim(), model === '' ? null : model);
      await this.app.readSettings();
      this.app.toasts.done(t.endpoints.changed(nameOf(this)));
      this.reset();
      return true;
    } catch (reason) {
      const { title, hint, detail } = sayProblem(toProblem(reason));
      this.wrong = [title, hint, detail].filter((each) => each !== '').join(' ');
      return false;
    } finally {
      this.busy = false;
    }
  }
}

function faultOf(address: string): string | null {
  if (address === '') return t.endpoints.addressMissing;
  if (!/^https?:\/\/[^\s/]+/.test(address)) return t.endpoints.addressBad;
  return /^https?:\/\/[^/]*@/.test(address) ? t.endpoints.addressSecret : null;
}
