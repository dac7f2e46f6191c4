export { atOnce } from '../../src/lib/slices.js';
