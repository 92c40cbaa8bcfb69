import * as tus from "tus-js-client";

export * from "tus-js-client";
export default tus;
