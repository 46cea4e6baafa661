export { type ChosenModel, chooseModel } from './choose-model.js';
export { type DataDir, DataDirInUse, takeDataDir } from './data-dir.js';
export { startSystem, type System, type SystemOptions } from './system.js';
