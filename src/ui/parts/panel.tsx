/** A part of a page under a title of its own. */
import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/problem.js';
import { ProblemNotice } from './notice.js';

/** The part, what it is about, and why what it shows could not be read. */
export const Panel = (props: {
  title: string;
  about?: string;
  problem?: Problem | undefined;
  children: ComponentChildren;
}) => (
  <section class="panel" aria-label={props.title}>
    <h2>{props.title}</h2>
    {props.about !== undefined && <p class="about">{props.about}</p>}
    <ProblemNotice problem={props.problem} />
    {props.children}
  </section>
);
