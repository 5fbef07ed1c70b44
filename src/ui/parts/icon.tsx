/** Icons: lines on a square of 16 units, in the colour of the text. */

const PATHS = {
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  done: 'm3 8.5 3.5 3.5L13 4.5',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  menu: 'M2 4h12M2 8h12M2 12h12',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.5 10.5l3.5 3.5',
  overview: 'M2.5 9h4v4.5h-4zM9.5 2.5h4v11h-4zM2.5 2.5h4v3.5h-4z',
  policies: 'M4 1.5h6l2.5 2.5v10.5H4zM6 7h4M6 10h4',
  roles: 'M8 2a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5ZM3 14c0-3 2-5 5-5s5 2 5 5',
  tokens: 'M5.5 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM8.5 8H14v2.5M11.5 8v2',
  'auth-methods': 'M8 1.5 13 3.5V8c0 3-2 5-5 6.5C5 13 3 11 3 8V3.5zM5.5 8l2 2 3.5-3.5',
  'binding-rules':
    'M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.5 2.5 0 0 1-4-4L5 7',
  'login-explain': 'M9 2.5h4v11H9M2.5 8H9M6.5 5.5 9 8l-2.5 2.5',
  explain:
    'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13ZM6 6a2 2 0 1 1 2.5 2c-.5.2-.5.5-.5 1.2M8 11.5v.2',
  'who-can':
    'M5.5 3a2 2 0 1 1 0 4 2 2 0 0 1 0-4ZM2 13c0-2.5 1.5-4 3.5-4S9 10.5 9 13' +
    'M11 4a1.7 1.7 0 0 1 0 3.4M11.5 9c1.6.3 2.5 1.8 2.5 4',
  decisions: 'M8 2v12M4.5 14h7M3 4h10M3.5 4 1.5 9.5h4zM12.5 4l-2 5.5h4z',
  config:
    'M2 4.5h7M12.5 4.5H14M2 11.5h1.5M7 11.5h7' +
    'M10.7 2.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4Z' +
    'M5.2 9.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4Z',
  chains: 'M2 6.5h4v3H2zM10 2h4v3h-4zM10 11h4v3h-4zM6 8h2M8 3.5v9M8 3.5h2M8 12.5h2',
  intentions: 'M2 4.5h9M8.5 2 11 4.5 8.5 7M14 11.5H5M7.5 9 5 11.5 7.5 14',
  namespaces: 'M2 3.5h4.5L8 5h6v8.5H2z',
  history: 'M3 5.5A6 6 0 1 1 2 8M2.5 2v3.5H6M8 5v3l2 1.5',
  migration: 'M9.5 2.5h4v11h-4M2 8h7.5M6.5 5 9.5 8l-3 3',
  audit: 'M3.5 2h9v12h-9zM6 2v12M8 5.5h2.5M8 8.5h2.5',
  events: 'M1.5 8H5l2-4.5 2.5 9 2-4.5h3',
  settings:
    'M8 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5Z' +
    'M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2' +
    'M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4',
  plan: 'M3 2.5h10v11H3zM5.5 6h5M5.5 9h5M5.5 11.5h3',
} as const;

/** An icon; none for a name without one. What it stands for is said by a text beside it. */
export function Icon({ name }: { name: string }) {
  const path = (PATHS as Readonly<Record<string, string>>)[name];
  if (path === undefined) return null;
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
