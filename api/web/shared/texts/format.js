/** Sizes, dates, durations and names as the person's language writes them. */

import { computed, signal } from "../preact.js";
import { TAGS, language } from "./language.js";

/** The person's time zone (IANA); empty: the browser's. */
export const timeZone = signal("");

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/**
 * @param {number | null | undefined} bytes
 * @returns {string} "" for what has no size
 */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return "";
  const step = Math.min(bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  return new Intl.NumberFormat(TAGS[language.value], {
    style: "unit",
    unit: UNITS[step],
    unitDisplay: step ? "short" : "long",
    maximumFractionDigits: step ? 1 : 0,
  }).format(bytes / 1000 ** step);
}

/** @param {Intl.DateTimeFormatOptions} options */
const dates = (options) =>
  computed(() => new Intl.DateTimeFormat(TAGS[language.value], { ...options, timeZone: timeZone.value || undefined }));
const times = dates({ hour: "2-digit", minute: "2-digit" });
const days = dates({ month: "short", day: "numeric" });
const years = dates({ year: "numeric", month: "short", day: "numeric" });
const moments = dates({ dateStyle: "medium", timeStyle: "short" });

const HALF_YEAR = 183 * 24 * 3600 * 1000;

/**
 * A short date for lists: the time for today, the day for this half year, else with the year.
 * @param {string | Date} value
 * @param {Date} [now]
 */
export function shortDate(value, now = new Date()) {
  const date = new Date(value);
  if (years.value.format(date) === years.value.format(now)) return times.value.format(date);
  return (Math.abs(now.getTime() - date.getTime()) < HALF_YEAR ? days : years).value.format(date);
}

/** A date and a time. @param {string | Date} value */
export const moment = (value) => moments.value.format(new Date(value));

/** The date and time of a clock whose zone is not known, as of a camera. @param {string} value ISO 8601 without a zone */
export const clockTime = (value) =>
  new Intl.DateTimeFormat(TAGS[language.value], { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }).format(
    new Date(`${value.replace(" ", "T")}Z`),
  );

/** @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = milliseconds / 1000;
  const [value, unit] =
    seconds < 90 ? [seconds, "second"] : seconds < 5400 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
  return new Intl.NumberFormat(TAGS[language.value], {
    style: "unit",
    unit: String(unit),
    unitDisplay: "short",
    maximumFractionDigits: value < 10 ? 1 : 0,
  }).format(Number(value));
}

const collator = computed(
  () =>
    new Intl.Collator(language.value === "zh" ? "zh-Hans-CN-u-co-pinyin" : "en", {
      numeric: true,
      sensitivity: "base",
    }),
);

/** Compare two names as people sort them: numbers by value, Chinese by pinyin. @param {string} a @param {string} b */
export const compareNames = (a, b) => collator.value.compare(a, b);
