/** Tables, and room for what may be wider than the page. */
import type { ComponentChildren } from 'preact';

/** Content that scrolls sideways, by keyboard too. */
export function Scroll({
  label,
  kind = 'scroll',
  children,
}: {
  label: string;
  kind?: string;
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: only what has the focus scrolls by key
    <section class={kind} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** A table with a caption, and a heading for each column. The children are its rows. */
export const Table = ({
  caption,
  label = caption,
  columns,
  isBusy,
  children,
}: {
  caption: string;
  label?: string;
  columns: readonly string[];
  isBusy?: boolean;
  children: ComponentChildren;
}) => (
  <Scroll label={label}>
    <table aria-busy={isBusy}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </Scroll>
);

/** A line of a list of terms. */
export const Term = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
