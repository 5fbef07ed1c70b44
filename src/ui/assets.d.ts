/** Files that the bundler takes in. */
declare module '*.css';
declare module '*.svg' {
  const url: string;
  export default url;
}
