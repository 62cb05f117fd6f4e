/** The price table as it is shown and changed. */
import type { App } from '../app/app.svelte';
import type { ModelPrice } from '../backend/types/ModelPrice';
import type { PriceTable } from '../backend/types/PriceTable';
import type { PriceView } from '../backend/types/PriceView';
import { t } from '../text/text.svelte';

export class Prices {
  table = $state.raw<PriceTable | null>(null);

  constructor(private readonly app: App) {
    void this.read();
  }

  read(): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      this.table = await this.app.backend.prices();
    });
  }

  save(price: ModelPrice): Promise<boolean> {
    const before = this.of(price.model);
    return this.app.toasts.attempt(async () => {
      await this.set(() => this.app.backend.savePrice(price));
      this.app.toasts.done(t.settings.priceSaved(price.model), this.back(price.model, before));
    });
  }

  /** Nothing counts against a cap for a free model. */
  markFree(model: string): Promise<boolean> {
    const before = this.of(model);
    return this.app.toasts.attempt(async () => {
      await this.set(() => this.app.backend.savePrice(freePrice(model)));
      this.app.toasts.done(t.settings.priceFreed(model), this.back(model, before));
    });
  }

  remove(model: string): Promise<boolean> {
    const before = this.of(model);
    return this.app.toasts.attempt(async () => {
      await this.set(() => this.app.backend.removePrice(model));
      this.app.toasts.done(t.settings.priceRemoved(model), this.back(model, before));
    });
  }

  private of(model: string): PriceView | undefined {
    return this.table?.prices.find((each) => each.price.model === model);
  }

  /** What brings the price before back. */
  private back(model: string, before: PriceView | undefined): () => Promise<void> {
    const { backend } = this.app;
    return () => this.set(() => (before?.own ? backend.savePrice(before.price) : backend.removePrice(model)));
  }

  private async set(change: () => Promise<PriceTable>): Promise<void> {
    this.table = await change();
    this.app.refreshAll();
  }
}

export function freePrice(model: string): ModelPrice {
  return { model, input: 0, output: 0, cacheWrite: 0, cacheRead: 0, batchPercent: 50, longPrompt: null };
}

export function isFree(price: ModelPrice): boolean {
  return [price.input, price.output, price.cacheWrite, price.cacheRead].every((each) => each === 0);
}
