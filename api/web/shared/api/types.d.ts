import type { components } from "openapi";

/** A schema of the service's OpenAPI document by its name. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];
