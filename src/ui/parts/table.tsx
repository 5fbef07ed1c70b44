/** Tables, and room for what may be wider than the page. */
import type { ComponentChildren, VNode } from 'preact';

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

/** The heading of a column by which the table can be sorted. */
export interface SortHeading {
  readonly title: string;
  readonly order: 'ascending' | 'descending' | undefined;
  onSort(): void;
}

/** The heading of a column: a text, or a control for all rows. */
export type Heading = string | SortHeading | { readonly title: string; readonly all: VNode };

function HeadCell({ of }: { of: Heading }) {
  if (typeof of === 'string') return <th scope="col">{of}</th>;
  if ('all' in of)
    return (
      <th scope="col" class="choice">
        {of.all}
      </th>
    );
  const arrow = { ascending: '▲', descending: '▼' };
  return (
    <th scope="col" aria-sort={of.order ?? 'none'}>
      <button type="button" onClick={of.onSort}>
        {of.title}
        <span aria-hidden="true">{of.order === undefined ? '' : ` ${arrow[of.order]}`}</span>
      </button>
    </th>
  );
}

/** A table with a caption, and a heading for each column. The children are its rows. */
export const Table = ({
  caption,
  label = caption,
  kind,
  columns,
  isBusy,
  children,
}: {
  caption: string;
  label?: string;
  kind?: string;
  columns: readonly Heading[];
  isBusy?: boolean;
  children: ComponentChildren;
}) => (
  <Scroll label={label}>
    <table class={kind} aria-busy={isBusy}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <HeadCell key={typeof column === 'string' ? column : column.title} of={column} />
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
