import { mount } from 'svelte';
import App from './app/App.svelte';
import { App as AppState } from './app/app.svelte';
import { connect } from './backend';
import './styles/index.css';

async function main(): Promise<void> {
  const target = document.getElementById('app');
  if (target === null) throw new Error('index.html has no #app');
  const app = new AppState(await connect());
  await app.start();
  mount(App, { target, props: { app } });
}

// Not caught here: start.js shows what stops the start.
void main();
