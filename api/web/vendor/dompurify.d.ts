export * from "dompurify";
export { default } from "dompurify";
