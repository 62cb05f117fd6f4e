// Loaded before everything else, and plain: it must work when nothing else does.
// It sets theme and language before the first paint, and shows errors that nothing else has caught.
(function () {
  'use strict';

  var root = document.documentElement;
  var query = new URLSearchParams(window.location.search);

  function remembered(name) {
    try {
      return window.localStorage.getItem('gistmill.' + name);
    } catch {
      return null;
    }
  }

  var theme = query.get('theme') || remembered('theme');
  if (theme !== 'light' && theme !== 'dark') {
    theme = window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  }
  root.setAttribute('data-theme', theme);

  var language = query.get('lang') || remembered('language');
  if (language !== 'en' && language !== 'ja') {
    language = /^ja\b/.test(String(navigator.language)) ? 'ja' : 'en';
  }
  root.lang = language;

  var words = {
    en: {
      title: 'The window met an error it did not expect',
      text: 'Your jobs are safe: the queue works on without the window. Reload the window; if the error comes back, send these diagnostics with a report.',
      copy: 'Copy diagnostics',
      copied: 'Copied',
      reload: 'Reload the window',
      close: 'Close',
    },
    ja: {
      title: 'ウィンドウで予期しないエラーが発生しました',
      text: 'ジョブは安全です。キューはウィンドウとは別に動き続けます。ウィンドウを再読み込みしてください。再発する場合は、この診断情報を添えて報告してください。',
      copy: '診断情報をコピー',
      copied: 'コピーしました',
      reload: 'ウィンドウを再読み込み',
      close: '閉じる',
    },
  };

  var started = Date.now();
  var shown = false;

  function describe(error) {
    if (error instanceof Error) return error.stack || error.name + ': ' + error.message;
    if (error && error.code && error.message) {
      return [error.message, error.hint, '(' + error.code + ')'].filter(Boolean).join('\n');
    }
    if (error && typeof error === 'object') {
      try {
        return JSON.stringify(error, null, 2);
      } catch {
        return String(error);
      }
    }
    return String(error);
  }

  function element(tag, className, text) {
    var made = document.createElement(tag);
    made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  function show(error) {
    if (shown) return;
    shown = true;
    var say = words[root.lang] || words.en;
    var diagnostics = [
      describe(error),
      '',
      'After: ' + (Date.now() - started) + ' ms',
      'Language: ' + navigator.language + ', shown: ' + root.lang,
      'Web view: ' + navigator.userAgent,
    ].join('\n');

    // A modal dialog: a sheet that is open would lie over anything else, and the focus would leave the panel.
    var panel = element('dialog', 'failure');
    panel.setAttribute('role', 'alertdialog');
    panel.setAttribute('aria-label', say.title);
    var opener = document.activeElement;
    function end() {
      panel.remove();
      shown = false;
      if (opener && opener.isConnected) opener.focus();
    }
    panel.addEventListener('cancel', function (event) {
      event.preventDefault();
      end();
    });
    // The window's keys are not for it.
    panel.addEventListener('keydown', function (event) {
      event.stopPropagation();
      if (event.key !== 'Tab') return;
      var edge = event.shiftKey ? details : close;
      if (document.activeElement !== edge) return;
      event.preventDefault();
      (event.shiftKey ? close : details).focus();
    });
    var box = element('div', 'failure-box');
    var details = element('pre', 'failure-details', diagnostics);
    details.tabIndex = 0;
    var buttons = element('div', 'failure-buttons');
    var reload = element('button', 'failure-button failure-primary', say.reload);
    reload.onclick = function () {
      window.location.reload();
    };
    var copy = element('button', 'failure-button', say.copy);
    copy.onclick = function () {
      var range = document.createRange();
      range.selectNodeContents(details);
      var selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      var done = function () {
        copy.textContent = say.copied;
      };
      if (navigator.clipboard) navigator.clipboard.writeText(diagnostics).then(done, function () {});
      else if (document.execCommand('copy')) done();
    };
    var close = element('button', 'failure-button', say.close);
    close.onclick = end;
    buttons.append(reload, copy, close);
    box.append(
      element('h1', 'failure-title', say.title),
      element('p', 'failure-text', say.text),
      details,
      buttons,
    );
    panel.append(box);

    function attach() {
      document.body.append(panel);
      panel.showModal();
      reload.focus();
    }
    if (document.body) attach();
    else document.addEventListener('DOMContentLoaded', attach);
  }

  window.addEventListener(
    'error',
    function (event) {
      // A resource that did not load has no message; a script among them stops the start.
      if (event instanceof ErrorEvent) {
        // Browsers report a layout that took one more frame as an error. It is none.
        if (/ResizeObserver loop/.test(event.message)) return;
        show(event.error || event.message);
      } else if (event.target instanceof HTMLScriptElement) {
        show('Not loaded: ' + event.target.src);
      }
    },
    true,
  );
  window.addEventListener('unhandledrejection', function (event) {
    show(event.reason);
  });
})();
