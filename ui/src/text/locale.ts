/**
 * Languages and locales, guarded: a system without a locale calls its language "C" or "C.UTF-8", with which `Intl`
 * throws.
 */

/** The languages that the window speaks. */
export type Spoken = 'en' | 'ja';

/** The system's languages that `Intl` knows, best first. */
export function systemLocales(): string[] {
  return [...(navigator.languages ?? []), navigator.language].filter((locale) => {
    try {
      return (
        Intl.getCanonicalLocales(locale).length > 0 && Intl.NumberFormat.supportedLocalesOf(locale).length > 0
      );
    } catch {
      return false;
    }
  });
}

/** The spoken language that comes first among the system's. */
export function systemLanguage(): Spoken {
  for (const locale of systemLocales()) {
    const language = locale.split('-')[0];
    if (language === 'ja' || language === 'en') return language;
  }
  return 'en';
}

/** The locale for numbers and dates: the person's own region where it speaks the shown language. */
export function formatLocale(language: Spoken): string {
  return (
    systemLocales().find((locale) => locale.split('-')[0] === language) ??
    (language === 'ja' ? 'ja-JP' : 'en-US')
  );
}
