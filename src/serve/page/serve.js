// The page of the server.

import { SERVER } from "./client.js";
import { acceptFiles, chooseFile, listenToFiles } from "./files.js";
import { beginPage } from "./page.js";

listenToFiles();
beginPage(SERVER, { f: chooseFile }).then(acceptFiles);
