// The page of the server.

import { SERVER } from "./client.js";
import { beginPage } from "./page.js";

beginPage(SERVER);
