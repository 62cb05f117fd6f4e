/** How telling others by HTTP goes, and the secret it is signed with. */
import type { App } from '../app/app.svelte';
import type { WebhookStatus } from '../backend/types/WebhookStatus';

export class Webhook {
  status = $state.raw<WebhookStatus | null>(null);

  constructor(private readonly app: App) {}

  read(): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      this.status = await this.app.backend.webhookStatus();
    });
  }

  saveSecret(secret: string | null): Promise<boolean> {
    return this.app.toasts.attempt(async () => {
      this.status = await this.app.backend.saveWebhookSecret(secret);
    });
  }
}
