/** The engine inside the desktop shell. The only file that knows Tauri. */
import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';
import { getCurrentWebview } from '@tauri-apps/api/webview';
import type { Backend, Unsubscribe } from './backend';
import type { EngineEvent } from './types/EngineEvent';

/** Tauri answers a subscription with a promise; this hands out a way to end it before and after. */
function settleLater(subscription: Promise<Unsubscribe>): Unsubscribe {
  let ended = false;
  let unsubscribe: Unsubscribe | null = null;
  void subscription.then((end) => {
    if (ended) end();
    else unsubscribe = end;
  });
  return () => {
    ended = true;
    unsubscribe?.();
  };
}

export function createBackend(): Backend {
  return {
    overview: () => invoke('overview'),
    jobs: (filter, after, limit) => invoke('jobs', { filter, after, limit }),
    jobRows: (filter, order, offset, limit) => invoke('job_rows', { filter, order, offset, limit }),
    jobIds: (filter, order, offset, limit) => invoke('job_ids', { filter, order, offset, limit }),
    job: (jobId) => invoke('job', { jobId }),
    templates: () => invoke('templates'),
    createTemplate: (draft) => invoke('create_template', { draft }),
    editTemplate: (templateId, draft) => invoke('edit_template', { templateId, draft }),
    duplicateTemplate: (template) => invoke('duplicate_template', { template }),
    removeTemplate: (templateId) => invoke('remove_template', { templateId }),
    previewTemplate: (draft, variables) => invoke('preview_template', { draft, variables }),
    importTemplate: () => invoke('import_template'),
    exportTemplate: (template) => invoke('export_template', { template }),
    about: () => invoke('about'),
    settings: () => invoke('settings'),
    saveSettings: (settings) => invoke('save_settings', { settings }),

    scan: (paths) => invoke('scan', { paths }),
    cancelScan: () => invoke('cancel_scan'),
    planSubmission: (scanId, submission) => invoke('plan_submission', { scanId, submission }),
    unlockScan: (scanId, password) => invoke('unlock_scan', { scanId, password }),
    forecastSubmission: (scanId, submission) => invoke('forecast_submission', { scanId, submission }),
    countTokens: (scanId, submission) => invoke('count_tokens', { scanId, submission }),
    cancelCounting: () => invoke('cancel_counting'),
    submitScan: (scanId, submission) => invoke('submit_scan', { scanId, submission }),
    submitPrompt: (prompt, submission) => invoke('submit_prompt', { prompt, submission }),

    planRetry: (selection, changes) => invoke('plan_retry', { selection, changes }),
    forecastRetry: (selection, changes) => invoke('forecast_retry', { selection, changes }),
    retry: (selection, changes) => invoke('retry', { selection, changes }),
    unlockJobs: (selection, password) => invoke('unlock_jobs', { selection, password }),
    pagePicture: (jobId, page) => invoke('page_picture', { jobId, page }),
    reading: (jobId) => invoke('reading', { jobId }),
    openDocument: (jobId) => invoke('open_document', { jobId }),
    documentBytes: (jobId, offset, length) => invoke('document_bytes', { jobId, offset, length }),
    closeDocument: (jobId) => invoke('close_document', { jobId }),
    planAction: (selection, action) => invoke('plan_action', { selection, action }),
    applyAction: (selection, action) => invoke('apply_action', { selection, action }),
    moveJobs: (jobIds, place) => invoke('move_jobs', { jobIds, place }),
    deadLetters: () => invoke('dead_letters'),
    exportJobs: (request, name) => invoke('export_jobs', { request, name }),
    batchReport: (batchId) => invoke('batch_report', { batchId }),
    pauseBatch: (batchId, paused) => invoke('pause_batch', { batchId, paused }),
    setBatchCap: (batchId, capMicros) => invoke('set_batch_cap', { batchId, capMicros }),
    pilot: (batchId, changes) => invoke('pilot', { batchId, changes }),
    releasePilot: (batchId, changes) => invoke('release_pilot', { batchId, changes }),
    cancelBehindPilot: (batchId) => invoke('cancel_behind_pilot', { batchId }),
    pauseLane: (queue, paused) => invoke('pause_lane', { queue, paused }),
    saveLane: (queue, settings) => invoke('save_lane', { queue, settings }),
    closeCircuit: (provider) => invoke('close_circuit', { provider }),

    prices: () => invoke('prices'),
    savePrice: (price) => invoke('save_price', { price }),
    removePrice: (model) => invoke('remove_price', { model }),
    webhookStatus: () => invoke('webhook_status'),
    saveWebhookSecret: (secret) => invoke('save_webhook_secret', { secret }),

    bucketStatus: () => invoke('bucket_status'),
    saveBucketSecret: (secret, sessionOnly) => invoke('save_bucket_secret', { secret, sessionOnly }),
    testBucket: (bucket, secret) => invoke('test_bucket', { bucket, secret }),
    readBucketAddress: (text) => invoke('read_bucket_address', { text }),
    uploadMissing: () => invoke('upload_missing'),
    retryUploads: () => invoke('retry_uploads'),
    retryCopies: (selection) => invoke('retry_copies', { selection }),

    saveKey: (key, sessionOnly) => invoke('save_key', { key, sessionOnly }),
    removeKey: () => invoke('remove_key'),
    testKey: () => invoke('test_key'),

    endpoint: () => invoke('endpoint'),
    useEndpoint: (kind, address, model) => invoke('use_endpoint', { kind, address, model }),
    saveHeaders: (text, sessionOnly) => invoke('save_headers', { text, sessionOnly }),
    modelsTold: () => invoke('models_told'),
    modelProfiles: (models) => invoke('model_profiles', { models }),

    chooseFiles: () => invoke('choose_files'),
    chooseFolder: () => invoke('choose_folder'),
    chooseCertificates: () => invoke('choose_certificates'),
    openPath: (path) => invoke('open_path', { path }),
    revealPath: (path) => invoke('reveal_path', { path }),
    openUrl: (url) => invoke('open_url', { url }),

    onEvent: (listener) => settleLater(listen<EngineEvent>('engine', ({ payload }) => listener(payload))),
    onHanded: (listener) => {
      const take = (): void =>
        void invoke<string[]>('handed_files').then((paths) => paths.length && listener(paths));
      take();
      return settleLater(listen('files-handed', take));
    },
    onDrag: (listener) =>
      settleLater(
        getCurrentWebview().onDragDropEvent(({ payload }) => {
          if (payload.type === 'leave') {
            listener({ type: 'leave' });
            return;
          }
          // Tauri gives physical pixels.
          const x = payload.position.x / window.devicePixelRatio;
          const y = payload.position.y / window.devicePixelRatio;
          if (payload.type === 'over') listener({ type: 'over', x, y });
          else listener({ type: payload.type, paths: payload.paths, x, y });
        }),
      ),
  };
}
