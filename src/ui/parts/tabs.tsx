/** Tabs: one of several panels is shown. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

/** A panel with the name of its tab. */
export interface Tab {
  readonly name: string;
  readonly panel: () => ComponentChildren;
}

/** Panels of which one is shown. Arrow keys move between the tabs. */
export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string;
  tabs: readonly Tab[];
  chosen: number;
  onChoose: (nth: number) => void;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = (chosen + by + tabs.length) % tabs.length;
    onChoose(next);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <>
      <div role="tablist" class="tabs" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ name }, nth) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${nth}`}
            aria-selected={nth === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={nth === chosen ? 0 : -1}
            onClick={() => onChoose(nth)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`}>
        {tabs[chosen]!.panel()}
      </div>
    </>
  );
}
