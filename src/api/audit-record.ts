/** Records of the audit log, as far as clients show them. docs/audit.md lists all members. */

/** A rule that allowed a request. */
export interface Grant {
  readonly right: string;
  readonly segment: string;
  readonly rule?: string;
  readonly policy?: { readonly type: string; readonly name: string };
  readonly line?: number;
}

/** An object that a request wrote. */
export interface AuditObject {
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly action: string;
}

export interface AuditRecord {
  readonly created_at: string;
  readonly payload: {
    readonly id: string;
    readonly type: string;
    readonly auth: {
      readonly accessor_id: string;
      readonly description: string;
      readonly identity?: { readonly auth_method: string; readonly subject: string };
    };
    readonly request: {
      readonly operation: string;
      readonly endpoint: string;
      readonly remote_addr: string;
    };
    readonly response: { readonly status: string };
    readonly node: string;
    readonly decision: string;
    readonly reason: string;
    readonly granted_by: readonly Grant[];
    readonly objects: readonly AuditObject[];
  };
}
