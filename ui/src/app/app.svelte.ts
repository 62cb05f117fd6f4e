/** Everything the window knows, put together: one object handed to every screen. */
import { Actions } from '../actions/actions.svelte';
import { AddFlow } from '../add/add.svelte';
import { toProblem, type Backend } from '../backend/backend';
import type { BatchId } from '../backend/types/BatchId';
import type { EndpointView } from '../backend/types/EndpointView';
import type { EngineEvent } from '../backend/types/EngineEvent';
import type { JobId } from '../backend/types/JobId';
import type { JobOrder } from '../backend/types/JobOrder';
import type { JobsShown } from '../backend/types/JobsShown';
import type { Overview } from '../backend/types/Overview';
import type { Problem } from '../backend/types/Problem';
import type { QueueName } from '../backend/types/QueueName';
import type { Settings } from '../backend/types/Settings';
import type { TemplateView } from '../backend/types/TemplateView';
import { DeadLetters } from '../dead-letters/dead-letters.svelte';
import { DetailStore } from '../detail/detail.svelte';
import { isAnthropic } from '../endpoint/presets';
import { RowDrag } from '../queue/drag.svelte';
import { JobList, NEWEST_FIRST } from '../queue/jobs.svelte';
import { NO_FILTERS, sinceOf, type MoreFilters } from '../queue/filters';
import { Report } from '../report/report.svelte';
import { speak, t } from '../text/text.svelte';
import { watchAttention } from './attention';
import { currentTime, startClock } from './clock.svelte';
import { coalesce } from './coalesce';
import { Milestones } from './milestones.svelte';
import { remember, useTheme } from './theme';
import { Toasts, type ToastAct } from './toasts.svelte';

export type Screen = 'welcome' | 'queue' | 'reader' | 'settings' | 'report';
export type SettingsPane =
  'general' | 'models' | 'limits' | 'lanes' | 'prices' | 'templates' | 'storage' | 'notify' | 'advanced';

/** Settings that change what can be asked for, and how. */
const ABOUT_ENDPOINT: (keyof Settings)[] = ['baseUrl', 'endpoint', 'auth', 'caFile', 'textOnly'];

/** The figures of the last minute fade without an event. */
const OVERVIEW_EVERY_MS = 5000;

export class App {
  readonly toasts = new Toasts();
  readonly jobs: JobList;
  readonly detail: DetailStore;
  readonly deadLetters: DeadLetters;
  readonly report: Report;
  readonly add: AddFlow;
  readonly actions: Actions;
  readonly milestones = new Milestones();
  readonly drag = new RowDrag(this);

  settings = $state.raw<Settings>() as Settings;
  overview = $state.raw<Overview>() as Overview;
  /** Where Claude is asked. */
  endpoint = $state.raw<EndpointView>() as EndpointView;
  templates = $state.raw<TemplateView[]>([]);

  screen = $state<Screen>('queue');
  settingsPane = $state<SettingsPane>('general');
  /** Where the reader and the settings go back to. */
  private before: Screen = 'queue';
  shown = $state<JobsShown>('all');
  queue = $state<QueueName | null>(null);
  batchId = $state<BatchId | null>(null);
  /** Narrower still, as the person chose. */
  more = $state.raw<MoreFilters>(NO_FILTERS);
  /** The order that the person chose in place of the view's own. */
  order = $state.raw<JobOrder | null>(null);
  searchText = $state('');
  drawerOpen = $state(false);
  promptOpen = $state(false);
  keysOpen = $state(false);
  /** The list of commands. */
  paletteOpen = $state(false);
  /** The template that the settings open with, or a new one. */
  templateAsked = $state.raw<{ of: TemplateView | null } | null>(null);

  private readonly refreshOverview = coalesce(async () => {
    await this.toasts.attempt(async () => {
      this.overview = await this.backend.overview();
      this.milestones.look(this.overview);
    });
  });

  constructor(readonly backend: Backend) {
    this.jobs = new JobList(backend, (problem) => this.toasts.problem(problem));
    this.detail = new DetailStore(backend);
    this.deadLetters = new DeadLetters(backend);
    this.report = new Report(backend);
    this.add = new AddFlow(backend);
    this.actions = new Actions(this);
  }

  /** Reads what the first picture needs, then listens. */
  async start(): Promise<void> {
    const [settings, overview, endpoint, templates] = await Promise.all([
      this.backend.settings(),
      this.backend.overview(),
      this.backend.endpoint(),
      this.backend.templates(),
    ]);
    this.useSettings(settings);
    this.overview = overview;
    this.endpoint = endpoint;
    this.milestones.look(overview);
    this.templates = templates;
    this.screen = this.home;
    startClock();
    watchAttention();
    this.backend.onEvent((event) => this.hear(event));
    this.backend.onHanded((paths) => void this.add.scan(paths, 'bulk'));
    setInterval(() => {
      if (!document.hidden) this.refreshOverview();
    }, OVERVIEW_EVERY_MS);
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.refreshAll();
    });
    await this.showJobs();
  }

  /** Where the window begins. Who has jobs is past the first run, also when it was cut short. */
  get home(): 'queue' | 'welcome' {
    return this.settings.welcomed || !this.empty ? 'queue' : 'welcome';
  }

  /** Whether there has never been a job. */
  get empty(): boolean {
    return this.overview.counts.total === 0;
  }

  get hasKey(): boolean {
    return this.overview.key.source !== 'none';
  }

  /** Whether Claude jobs wait for a key: Anthropic itself wants one, others may do without. */
  get lacksKey(): boolean {
    return !this.hasKey && isAnthropic(this.endpoint);
  }

  get filtered(): boolean {
    const { template, provider, added } = this.more;
    return (
      [this.queue, this.batchId, template, provider, added].some((filter) => filter !== null) ||
      this.searchText.trim() !== ''
    );
  }

  refreshAll(): void {
    this.refreshOverview();
    this.refreshList();
    this.detail.changed([]);
  }

  /** Asks anew for the list in sight; the other one is read when it is opened. */
  private refreshList(): void {
    if (this.screen === 'report') this.report.refresh();
    if (this.shown === 'dead-letters') this.deadLetters.refresh();
    else this.jobs.refresh();
  }

  /** Opens a view of the sidebar. */
  show(shown: JobsShown): void {
    this.shown = shown;
    this.screen = 'queue';
    this.drawerOpen = false;
    void this.showJobs();
  }

  /** Applies view, search and filters to the list. */
  async showJobs(): Promise<void> {
    const text = this.searchText.trim();
    const filter = {
      shown: this.shown,
      queue: this.queue,
      batchId: this.batchId,
      cause: null,
      text: text === '' ? null : text,
      template: this.more.template,
      provider: this.more.provider,
      model: null,
      addedSince: sinceOf(this.more.added, currentTime()),
    };
    if (this.shown === 'dead-letters') {
      await this.deadLetters.show(filter);
      return;
    }
    await this.jobs.show(filter, this.orderShown);
    this.selectSomething();
  }

  /** The order of the list: what waits is listed in the order of its turn, all else with the newest first. */
  get orderShown(): JobOrder {
    return this.order ?? (this.shown === 'waiting' ? { by: 'line', descending: false } : NEWEST_FIRST);
  }

  /** Sorts the list; `null` goes back to the view's own order. */
  sortBy(order: JobOrder | null): void {
    this.order = order;
    void this.showJobs();
  }

  filterBy(change: { batchId?: BatchId | null; queue?: QueueName | null } & Partial<MoreFilters>): void {
    const { batchId = this.batchId, queue = this.queue, ...more } = change;
    this.batchId = batchId;
    this.queue = queue;
    this.more = { ...this.more, ...more };
    void this.showJobs();
  }

  /** Narrows the list to a batch's jobs of one view. */
  showIn(batchId: BatchId, shown: JobsShown): void {
    this.batchId = batchId;
    this.queue = null;
    this.more = NO_FILTERS;
    this.searchText = '';
    this.show(shown);
  }

  clearFilters(): void {
    this.queue = null;
    this.more = NO_FILTERS;
    this.batchId = null;
    this.searchText = '';
    void this.showJobs();
  }

  showBatch(batchId: BatchId): void {
    this.batchId = this.batchId === batchId ? null : batchId;
    if (this.batchId !== null && this.shown !== 'dead-letters') this.shown = 'all';
    this.screen = 'queue';
    void this.showJobs();
  }

  openSettings(pane: SettingsPane): void {
    this.settingsPane = pane;
    this.cover('settings');
  }

  /** Opens a template's sheet; `null` for that of a new one. */
  openTemplate(of: TemplateView | null): void {
    this.templateAsked = { of };
    this.openSettings('templates');
  }

  leaveSettings(): void {
    this.screen = this.before === 'report' ? 'report' : this.home;
  }

  openReader(jobId: JobId): void {
    this.detail.show(jobId);
    this.cover('reader');
  }

  leaveReader(): void {
    this.screen = this.before;
  }

  /** Opens the report of a batch. */
  openReport(batchId: BatchId): void {
    this.drawerOpen = false;
    this.screen = 'report';
    void this.report.show(batchId);
  }

  /** Opens a screen over the present one. */
  private cover(screen: 'reader' | 'settings'): void {
    if (this.screen !== screen) this.before = this.screen === 'report' ? 'report' : 'queue';
    this.screen = screen;
  }

  saveSettings(change: Partial<Settings>): Promise<boolean> {
    return this.toasts.attempt(() => this.storeSettings(change));
  }

  /** Stores settings, or answers what is wrong with them, for who says it beside a field. */
  async trySettings(change: Partial<Settings>): Promise<Problem | null> {
    try {
      await this.storeSettings(change);
      return null;
    } catch (reason) {
      return toProblem(reason);
    }
  }

  /** Has new jobs ask for a model; that can be undone. */
  async useModel(model: string): Promise<void> {
    const before = this.settings.model;
    if (model === before || !(await this.saveSettings({ model }))) return;
    await this.toasts.attempt(() => this.readOverview());
    this.toasts.done(t.models.usedFromNow(model), async () => {
      await this.storeSettings({ model: before });
      await this.readOverview();
    });
  }

  /** Reads settings and endpoint anew, after something else than this window's fields changed them. */
  async readSettings(): Promise<void> {
    const [settings, endpoint] = await Promise.all([this.backend.settings(), this.backend.endpoint()]);
    this.useSettings(settings);
    this.endpoint = endpoint;
    await this.readOverview();
  }

  private async storeSettings(change: Partial<Settings>): Promise<void> {
    this.useSettings(await this.backend.saveSettings({ ...this.settings, ...change }));
    if (ABOUT_ENDPOINT.some((field) => field in change)) this.endpoint = await this.backend.endpoint();
  }

  /** Leaves the first-run screen for good. */
  async welcome(change: Partial<Settings> = {}): Promise<void> {
    await this.saveSettings({ ...change, welcomed: true });
    this.screen = 'queue';
  }

  /** Opens a file in its usual program. */
  opening(path: string): ToastAct {
    return {
      label: t.exports.open,
      act: () => void this.toasts.attempt(() => this.backend.openPath(path)),
    };
  }

  /** Shows a file in its folder. */
  revealing(path: string): ToastAct {
    return {
      label: t.common.showInFolder,
      act: () => void this.toasts.attempt(() => this.backend.revealPath(path)),
    };
  }

  pauseLane(queue: QueueName, paused: boolean): Promise<boolean> {
    return this.toasts.attempt(async () => {
      await this.backend.pauseLane(queue, paused);
      this.overview = await this.backend.overview();
      this.refreshList();
    });
  }

  /** Lets go of what is selected and shown, since it may not exist any more. */
  forgetSelection(): void {
    this.jobs.clearSelection();
    this.jobs.focusedId = null;
    this.deadLetters.selectEverything(false);
    this.drawerOpen = false;
  }

  /** Reads the templates anew, after one of them changed. */
  async readTemplates(): Promise<void> {
    this.templates = await this.backend.templates();
  }

  async readOverview(): Promise<void> {
    this.overview = await this.backend.overview();
  }

  async addFiles(): Promise<void> {
    await this.toasts.attempt(async () => this.add.scan(await this.backend.chooseFiles(), 'bulk'));
  }

  async addFolder(): Promise<void> {
    await this.toasts.attempt(async () => this.add.scan(await this.backend.chooseFolder(), 'bulk'));
  }

  private useSettings(settings: Settings): void {
    this.settings = settings;
    speak(settings.language);
    useTheme(settings.theme);
    remember(settings.theme, settings.language);
  }

  /** A list that opens shows its first job in the pane beside it, so that the pane is never an empty box. */
  private selectSomething(): void {
    const first = this.jobs.rows[0];
    if (first && this.jobs.focusedIndex === -1) this.jobs.focus(first.jobId);
  }

  private hear(event: EngineEvent): void {
    switch (event.event) {
      case 'jobs-changed':
        this.refreshOverview();
        this.refreshList();
        this.detail.changed(event.jobIds);
        break;
      case 'overview-changed':
        this.refreshOverview();
        this.refreshList();
        break;
      case 'job-progress':
        this.jobs.advance(event.jobId, event);
        break;
      case 'scan-progress':
        this.add.progressed(event);
        break;
      case 'count-progress':
        this.add.tokensCounted(event);
        break;
    }
  }
}
