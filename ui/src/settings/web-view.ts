/** The more telling name first: every one calls itself by all names that are older than it. */
const NAMES = [/Edg\/([\d.]+)/, /Chrome\/([\d.]+)/, /AppleWebKit\/([\d.]+)/];

/** The web view by the name and version that it gives itself: "WebKit 605.1.15", "Chrome 156.0.0.0". */
export function webView(agent: string = navigator.userAgent): string {
  const found = NAMES.map((name) => name.exec(agent)).find((match) => match !== null);
  if (!found) return agent;
  const name = found[0].split('/')[0] ?? '';
  return `${{ Edg: 'WebView2', AppleWebKit: 'WebKit' }[name] ?? name} ${found[1]}`;
}
