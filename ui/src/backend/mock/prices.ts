/** The played price table: the shipped prices, and those that a person gave. */
import type { ModelPrice } from '../types/ModelPrice';
import type { PriceTable } from '../types/PriceTable';

function shipped(model: string, input: number, output: number): ModelPrice {
  return {
    model,
    input,
    output,
    cacheWrite: input * 1.25,
    cacheRead: input * 0.1,
    batchPercent: 50,
    longPrompt: null,
  };
}

const SONNET = shipped('claude-sonnet-4-6', 3_000_000, 15_000_000);

const SHIPPED: ModelPrice[] = [
  shipped('claude-opus-4-6', 5_000_000, 25_000_000),
  {
    ...SONNET,
    longPrompt: {
      overTokens: 200_000,
      input: 6_000_000,
      output: 22_500_000,
      cacheWrite: 7_500_000,
      cacheRead: 600_000,
    },
  },
  shipped('claude-haiku-4-5', 1_000_000, 5_000_000),
  shipped('claude-opus-4-5', 5_000_000, 25_000_000),
  shipped('claude-sonnet-4-5', 3_000_000, 15_000_000),
];

export class PlayedPrices {
  private readonly own = new Map<string, ModelPrice>();

  table(): PriceTable {
    const models = [...new Set([...SHIPPED.map((price) => price.model), ...this.own.keys()])];
    return {
      shippedOn: '2026-02-01',
      prices: models.flatMap((model) => {
        const price = this.of(model);
        return price ? [{ price, own: this.own.has(model) }] : [];
      }),
    };
  }

  of(model: string): ModelPrice | undefined {
    return this.own.get(model) ?? SHIPPED.find((price) => price.model === model);
  }

  save(price: ModelPrice): void {
    this.own.set(price.model, price);
  }

  /** Marks a model as free that has no price. */
  free(model: string): void {
    if (this.of(model)) return;
    this.save({ ...shipped(model, 0, 0), batchPercent: 100 });
  }

  remove(model: string): void {
    this.own.delete(model);
  }
}
