// Style sheets of npm packages, which esbuild collects beside the module that imports them.
declare module "*.css";
