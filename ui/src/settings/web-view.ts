/** The web view by the name and version that it gives itself: "WebKit 605.1.15", "Chrome 156.0.0.0". */
export function webView(agent: string = navigator.userAgent): string {
  const found = /(?:Edg|Chrome)\/([\d.]+)/.exec(agent) ?? /(?:AppleWebKit)\/([\d.]+)/.exec(agent);
  if (!found) return agent;
  const name = found[0].split('/')[0] ?? '';
  return `${{ Edg: 'WebView2', AppleWebKit: 'WebKit' }[name] ?? name} ${found[1]}`;
}
