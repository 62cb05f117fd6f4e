/** The models that can be used at the address in force, with what is known of each. */
import type { App } from '../app/app.svelte';
import type { ModelProfile } from '../backend/types/ModelProfile';
import type { PriceView } from '../backend/types/PriceView';
import { isFree, type Prices } from '../settings/prices.svelte';

/** A line of the table. */
export interface ModelLine {
  profile: ModelProfile;
  price: PriceView | null;
  free: boolean;
  /** Whether new jobs ask for it. */
  used: boolean;
}

export class Models {
  private profiles = $state.raw<ModelProfile[]>([]);
  /** Whether the address told of its models; else those with a price are shown. */
  told = $state(false);

  constructor(
    private readonly app: App,
    private readonly prices: Prices,
  ) {}

  /** Asks what is known. The address is asked nothing: a test of the key does that. */
  read(): Promise<boolean> {
    const { backend, settings, endpoint } = this.app;
    return this.app.toasts.attempt(async () => {
      const told = await backend.modelsTold();
      const priced =
        told.length > 0 || endpoint.kind !== 'anthropic'
          ? []
          : (await backend.prices()).prices.map((each) => each.price.model);
      const missing = [...priced, settings.model].filter(
        (model, at, all) => all.indexOf(model) === at && !told.some((each) => isSame(each.model, model)),
      );
      this.profiles = [...told, ...(missing.length > 0 ? await backend.modelProfiles(missing) : [])];
      this.told = told.length > 0;
    });
  }

  get lines(): ModelLine[] {
    const { model } = this.app.settings;
    return this.profiles
      .filter((profile) => profile.lifecycle !== 'retired' || isSame(profile.model, model))
      .map((profile) => {
        const price = this.priceOf(profile.model);
        return {
          profile,
          price,
          free: price !== null && isFree(price.price),
          used: isSame(profile.model, model),
        };
      });
  }

  /** An own price is for the very name; a shipped one for the model by whatever name. */
  priceOf(model: string): PriceView | null {
    const prices = this.prices.table?.prices ?? [];
    return (
      prices.find((each) => each.price.model === model) ??
      prices.find((each) => !each.own && isSame(each.price.model, model)) ??
      null
    );
  }
}

/** Whether two names are of one model: dates and a maker in front make no other one. */
export function isSame(one: string, other: string): boolean {
  return bare(one) === bare(other);
}

function bare(model: string): string {
  return model
    .replace(/^anthropic\//, '')
    .replace(/-\d{8}$/, '')
    .replaceAll('.', '-');
}
