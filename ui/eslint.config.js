import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import typescript from 'typescript-eslint';

export default typescript.config(
  { ignores: ['dist', 'dist-demo', 'test-results', 'src/backend/types'] },
  js.configs.recommended,
  typescript.configs.strict,
  svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['@tauri-apps/*'],
              message:
                'Only ui/src/backend/tauri.ts knows Tauri. Add what is needed to the Backend interface.',
            },
          ],
        },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['src/backend/tauri.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: typescript.parser } },
    // Collections that nothing on the screen depends on stay plain.
    rules: { 'svelte/prefer-svelte-reactivity': 'off' },
  },
  {
    files: ['tests/flows/**', 'scripts/**', '*.js', '*.ts'],
    languageOptions: { globals: { ...globals.node } },
    rules: { 'no-console': 'off' },
  },
);
