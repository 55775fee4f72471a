---@meta
-- What workflows of Hostler can use, for LuaLS and EmmyLua. Generated from crates/lua by `cargo xtask gen`.

---@class hostler.Task
---@field description fun(self, text: string): hostler.Task
---@field command fun(self, command: string|string[]|fun(this, params: table, deps: table): any): hostler.Task
---@field run fun(self, command: any): hostler.Task
---@field workdir fun(self, path: string): hostler.Task
---@field user fun(self, name: string): hostler.Task
---@field shell fun(self, shell: string): hostler.Task
---@field timeout fun(self, time: string|number): hostler.Task
---@field delegate_to fun(self, where: string|table|function, options?: table): hostler.Task
---@field depends_on fun(self, ...: string|hostler.Task|table): hostler.Task
---@field next_if_fail fun(self, ...: string|table): hostler.Task
---@field retries fun(self, count: integer, strategy?: "fixed"|"linear"|"exponential", delay?: string|number): hostler.Task
---@field max_retry_delay fun(self, time: string|number): hostler.Task
---@field retry_jitter fun(self, percent: integer): hostler.Task
---@field async fun(self, value?: boolean): hostler.Task
---@field artifacts fun(self, patterns: string|string[]): hostler.Task
---@field consumes fun(self, names: string|string[]): hostler.Task
---@field run_if fun(self, condition: string|function|boolean): hostler.Task
---@field condition fun(self, condition: string|function|boolean): hostler.Task
---@field abort_if fun(self, condition: string|function|boolean): hostler.Task
---@field pre_hook fun(self, hook: function): hostler.Task
---@field post_hook fun(self, hook: function): hostler.Task
---@field on_success fun(self, handler: fun(this, params: table, output: table)): hostler.Task
---@field on_failure fun(self, handler: fun(this, params: table, err: table)): hostler.Task
---@field on_fail fun(self, handler: fun(this, params: table, err: table)): hostler.Task
---@field on_timeout fun(self, handler: function): hostler.Task
---@field on_retry fun(self, handler: function): hostler.Task
---@field on_skip fun(self, handler: function): hostler.Task
---@field env fun(self, variables: table|string, value?: string): hostler.Task
---@field params fun(self, params: table): hostler.Task
---@field tags fun(self, tags: string[]): hostler.Task
---@field health_check fun(self, check: string|function): hostler.Task
---@field compensate fun(self, undo: string|function): hostler.Task
---@field continue_on_error fun(self, value: boolean): hostler.Task
---@field uses fun(self, task: hostler.Task|table): hostler.Task
---@field build fun(self): hostler.Task

---@class hostler.Workflow
---@field description fun(self, text: string): hostler.Workflow
---@field version fun(self, text: string): hostler.Workflow
---@field tasks fun(self, tasks: table): hostler.Workflow
---@field config fun(self, config: table): hostler.Workflow
---@field on_start fun(self, handler: function): hostler.Workflow
---@field on_complete fun(self, handler: fun(success: boolean, results: table)): hostler.Workflow
---@field on_task_start fun(self, handler: fun(name: string)): hostler.Workflow
---@field on_task_complete fun(self, handler: fun(name: string, success: boolean)): hostler.Workflow
---@field on_success fun(self, handler: fun(results: table)): hostler.Workflow
---@field on_failure fun(self, handler: fun(results: table)): hostler.Workflow
---@field delegate_to fun(self, where: any): hostler.Workflow
---@field metadata fun(self, metadata: table): hostler.Workflow
---@field build fun(self): hostler.Workflow

---@param name string
---@return hostler.Task
function task(name) end

---@class hostler.workflow
---@field define fun(name: string, body?: table): hostler.Workflow
---@field parallel fun(...): table
---@field sequence fun(...): table
---@field conditional fun(condition: any, ...): table
---@field saga fun(name: string, steps: table): table
---@field approval fun(name: string, options?: table): hostler.Task
workflow = {}

---@param tasks table
---@return table
function parallel(tasks) end

---@param tasks table
---@return table
function chain(tasks) end

---@param condition any
---@return any
function when(condition, ...) end

---@param path string
---@return any
function import(path) end

---@type table<string, any>
values = {}

---Secrets that were given with `--secret`, by their names; known in bodies only.
---@type table<string, string>
secrets = {}

---A secret, or nil and why there is none.
---@param name string
---@return string|nil, string|nil
function secrets.get(name) end

---A language model behind an OpenAI-compatible endpoint (HOSTLER_AI_URL, HOSTLER_AI_KEY, HOSTLER_AI_MODEL in the environment of the step), and a history of runs in `~/.hostler/ai`. Functions with a result give it twice, so that both `local ok, r =` and `local r =` work.
---@class hostler.ai
ai = {}

---Asks the model, and gives its answer.
---`ai.ask(prompt[, { system, model, temperature, max_tokens, timeout }]) -> text | nil, error`
---@param prompt any
---@param options? any
---@return any # text | nil, error
function ai.ask(prompt, options) end

---The same as `ai.ask`.
---`ai.complete(prompt[, options]) -> text | nil, error`
---@param prompt any
---@param options? any
---@return any # text | nil, error
function ai.complete(prompt, options) end

---Continues a conversation of `{ role, content }`.
---`ai.chat(messages[, options]) -> text | nil, error`
---@param messages any
---@param options? any
---@return any # text | nil, error
function ai.chat(messages, options) end

---Asks the model for a better command: `original_command`, `optimized_command`, `confidence_score`, `expected_speedup`, `rationale`, `optimizations`, `resource_savings`.
---`ai.optimize_command(command[, { context }]) -> result, result | nil, error`
---@param command any
---@param options? any
---@return any # result, result | nil, error
function ai.optimize_command(command, options) end

---Asks the model how likely a run fails, given its history: `failure_probability`, `confidence`, `risk_factors`, `recommendations`.
---`ai.predict_failure(task, command) -> result, result | nil, error`
---@param task any
---@param command any
---@return any # result, result | nil, error
function ai.predict_failure(task, command) end

---Asks the model what the history says: `insights`, each with `title`, `detail` and `severity`.
---`ai.generate_insights([{ scope }]) -> result, result | nil, error`
---@param options? any
---@return any # result, result | nil, error
function ai.generate_insights(options) end

---Adds a run to the history.
---`ai.record_execution{ task_name, command, success, execution_time, error_message, parameters } -> boolean, error`
---@param options any
---@return any # boolean, error
function ai.record_execution(options) end

---Runs of a command, the newest first.
---`ai.get_task_history(command[, limit]) -> list, list`
---@param command any
---@param limit? any
---@return any # list, list
function ai.get_task_history(command, limit) end

---Counts of the runs of a command: `total_executions`, `successful`, `failed`, `success_rate`, `average_time`, `min_time`, `max_time`, `last_execution`.
---`ai.get_task_stats(command) -> result, result`
---@param command any
---@return any # result, result
function ai.get_task_stats(command) end

---Commands of the history that have words in common, the most alike first: `command`, `similarity`, `total_executions`, `success_rate`.
---`ai.find_similar_tasks(command[, limit]) -> list, list`
---@param command any
---@param limit? any
---@return any # list, list
function ai.find_similar_tasks(command, limit) end

---How long runs of a command take: the counts, `p95_time`, `deviation`, and `trend` (`faster`, `slower`, `steady`, `unknown`) of the newer half against the older.
---`ai.analyze_performance(command) -> result, result`
---@param command any
---@return any # result, result
function ai.analyze_performance(command) end

---Keeps settings beside the history. `enabled = false` keeps the model from being asked.
---`ai.configure{ enabled, learning_mode, optimization_level, failure_prediction, auto_optimize, model } -> boolean, error`
---@param options any
---@return any # boolean, error
function ai.configure(options) end

---The settings.
---`ai.get_config() -> table`
---@return any # table
function ai.get_config() end

---Several functions at the same time, as one call. Times are seconds, or texts such as `500ms`.
---@class hostler.async
async = {}

---Starts a function whose results are wanted later.
---`async.run(fn[, ...]) -> handle`
---@param fn any
---@param ...? any
---@return any # handle
function async.run(fn, ...) end

---Waits for what `async.run` started.
---`async.await(handle) -> true, values... | false, error`
---@param handle any
---@return any # true, values... | false, error
function async.await(handle) end

---Calls all functions (or waits for all handles) of a list at the same time. The first that fails ends the other functions.
---`async.all(list) -> values | nil, error`
---@param list any
---@return any # values | nil, error
function async.all(list) end

---The same until the first is done; the other functions are ended.
---`async.race(list) -> value, index | nil, error`
---@param list any
---@return any # value, index | nil, error
function async.race(list) end

---Carries out functions, lines for the shell, or tables with `name` and `command`, so many at once. Every result has `name`, `status` (`Success` or `Failed`), `duration` in seconds, `value` and `error`; the error of the whole is nil when nothing failed.
---`async.parallel(list[, max_workers]) -> results, error`
---@param list any
---@param max_workers? any
---@return any # results, error
function async.parallel(list, max_workers) end

---Calls a function and gives up after that time.
---`async.timeout(seconds, fn) -> true, values... | false, error`
---@param seconds any
---@param fn any
---@return any # true, values... | false, error
function async.timeout(seconds, fn) end

---Waits; others go on.
---`async.sleep(seconds)`
---@param seconds any
function async.sleep(seconds) end

---Amazon Web Services, with the `aws` of the machine and its credentials. `aws.client{ profile, region }` keeps both for what is called on it.
---@class hostler.aws
aws = {}

---A client for a profile and a region.
---`aws.client([{ profile, region }]) -> client`
---@param options? any
---@return any # client
function aws.client(options) end

---Runs aws with a list of words. Where it answers with JSON, `data` has it as a table.
---`aws.exec(args[, { profile, region }]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function aws.exec(args, options) end

---Who one is: `Account`, `Arn`, `UserId`.
---`aws.identity([{ profile, region }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function aws.identity(options) end

---Microsoft Azure, with the `az` of the machine and whoever is signed in there.
---@class hostler.azure
azure = {}

---Runs az with a list of words. Where it answers with JSON, `data` has it as a table.
---`azure.exec(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function azure.exec(args, options) end

---Leaving alone what keeps failing; the same circuits as those of `reliability`.
---@class hostler.circuit
circuit = {}

---The same as `reliability.circuit_breaker`.
---`circuit.protect(name[, { max_failures, timeout, success_threshold, on_state_change }], fn) -> values... | nil, error`
---@param name any
---@param options? any
---@param fn any
---@return any # values... | nil, error
function circuit.protect(name, options, fn) end

---Entries of crontabs, each under a name. Lines of others stay as they are.
---@class hostler.cron
cron = {}

---Makes an entry be there as told. The schedule has five fields, or is a word such as `@daily`.
---`cron.add{ name, schedule, command, user, enabled } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function cron.add(options) end

---Makes an entry not be there.
---`cron.remove(name[, user]) -> result, result | nil, error`
---@param name any
---@param user? any
---@return any # result, result | nil, error
function cron.remove(name, user) end

---Makes an entry count again.
---`cron.enable(name[, user]) -> result, result | nil, error`
---@param name any
---@param user? any
---@return any # result, result | nil, error
function cron.enable(name, user) end

---Keeps an entry as a comment, so that it does not run.
---`cron.disable(name[, user]) -> result, result | nil, error`
---@param name any
---@param user? any
---@return any # result, result | nil, error
function cron.disable(name, user) end

---All entries of a crontab, those without a name included.
---`cron.list([user]) -> [{ name, schedule, command, user, enabled }] | nil, error`
---@param user? any
---@return any # [{ name, schedule, command, user, enabled }] | nil, error
function cron.list(user) end

---Whether there is an entry of this name.
---`cron.exists(name[, user]) -> boolean | nil, error`
---@param name any
---@param user? any
---@return any # boolean | nil, error
function cron.exists(name, user) end

---Whether a schedule can be read.
---`cron.validate_schedule(schedule) -> boolean, message`
---@param schedule any
---@return any # boolean, message
function cron.validate_schedule(schedule) end

---Digests, encodings, random values, sealed texts. What is random is of the quality that keys need, and is not there while a file is defined, so that it is defined the same everywhere.
---@class hostler.crypto
crypto = {}

---The MD5 digest in hex; for old protocols, not for safety.
---`crypto.md5(text) -> text`
---@param text any
---@return any # text
function crypto.md5(text) end

---The SHA-1 digest in hex; for old protocols, not for safety.
---`crypto.sha1(text) -> text`
---@param text any
---@return any # text
function crypto.sha1(text) end

---The SHA-256 digest in hex.
---`crypto.sha256(text) -> text`
---@param text any
---@return any # text
function crypto.sha256(text) end

---The SHA-512 digest in hex.
---`crypto.sha512(text) -> text`
---@param text any
---@return any # text
function crypto.sha512(text) end

---A digest in hex: `md5`, `sha1`, `sha256`, `sha384` or `sha512`.
---`crypto.hash(algorithm, text) -> text | nil, error`
---@param algorithm any
---@param text any
---@return any # text | nil, error
function crypto.hash(algorithm, text) end

---A keyed digest in hex: with `sha1`, `sha256`, `sha384` or `sha512`.
---`crypto.hmac(algorithm, key, text) -> text | nil, error`
---@param algorithm any
---@param key any
---@param text any
---@return any # text | nil, error
function crypto.hmac(algorithm, key, text) end

---The bytes in base64.
---`crypto.base64_encode(text) -> text`
---@param text any
---@return any # text
function crypto.base64_encode(text) end

---The bytes behind base64, of either alphabet, with or without its padding.
---`crypto.base64_decode(text) -> text | nil, error`
---@param text any
---@return any # text | nil, error
function crypto.base64_decode(text) end

---The bytes in hex.
---`crypto.hex_encode(text) -> text`
---@param text any
---@return any # text
function crypto.hex_encode(text) end

---The bytes behind hex digits.
---`crypto.hex_decode(text) -> text | nil, error`
---@param text any
---@return any # text | nil, error
function crypto.hex_decode(text) end

---A random UUID (version 4).
---`crypto.uuid() -> text`
---@return any # text
function crypto.uuid() end

---The same as `crypto.uuid`.
---`crypto.uuid_v4() -> text`
---@return any # text
function crypto.uuid_v4() end

---A random password of 16 characters or so many, at least 4, with at least one of every kind: small and capital letters, digits, and symbols unless `symbols` is false.
---`crypto.generate_password([length[, symbols]]) -> text`
---@param length? any
---@param symbols? any
---@return any # text
function crypto.generate_password(length, symbols) end

---Random characters: letters and digits, or of those that are given.
---`crypto.random_string(length[, characters]) -> text`
---@param length any
---@param characters? any
---@return any # text
function crypto.random_string(length, characters) end

---Random bytes.
---`crypto.random_bytes(length) -> text`
---@param length any
---@return any # text
function crypto.random_bytes(length) end

---Seals a text with AES-256-GCM under a key that is made from the given one, which may be any text; it takes a moment, so that keys cannot be tried fast. The result is base64, other each time.
---`crypto.aes_encrypt(text, key) -> text | nil, error`
---@param text any
---@param key any
---@return any # text | nil, error
function crypto.aes_encrypt(text, key) end

---Opens what `crypto.aes_encrypt` sealed, if it is untouched and the key is the same.
---`crypto.aes_decrypt(sealed, key) -> text | nil, error`
---@param sealed any
---@param key any
---@return any # text | nil, error
function crypto.aes_decrypt(sealed, key) end

---Texts of JSON, YAML, TOML, XML and CSV as tables and back, and what can be done with tables. What cannot be read gives `nil` and why, with the place.
---@class hostler.data
data = {}

---A value as JSON, its keys sorted.
---`data.json_encode(value) -> text`
---@param value any
---@return any # text
function data.json_encode(value) end

---The value of a JSON text.
---`data.json_decode(text) -> value | nil, error`
---@param text any
---@return any # value | nil, error
function data.json_decode(text) end

---A value as JSON for people.
---`data.json_pretty(value) -> text`
---@param value any
---@return any # text
function data.json_pretty(value) end

---Whether a text is JSON, and why not.
---`data.json_validate(text) -> boolean, error`
---@param text any
---@return any # boolean, error
function data.json_validate(text) end

---A value as YAML.
---`data.yaml_encode(value) -> text`
---@param value any
---@return any # text
function data.yaml_encode(value) end

---The value of a YAML text.
---`data.yaml_decode(text) -> value | nil, error`
---@param text any
---@return any # value | nil, error
function data.yaml_decode(text) end

---The values of a YAML text with several documents.
---`data.yaml_decode_all(text) -> { value } | nil, error`
---@param text any
---@return any # { value } | nil, error
function data.yaml_decode_all(text) end

---YAML as JSON.
---`data.yaml_to_json(text) -> text | nil, error`
---@param text any
---@return any # text | nil, error
function data.yaml_to_json(text) end

---JSON as YAML.
---`data.json_to_yaml(text) -> text | nil, error`
---@param text any
---@return any # text | nil, error
function data.json_to_yaml(text) end

---A table as TOML.
---`data.toml_encode(table) -> text | nil, error`
---@param table any
---@return any # text | nil, error
function data.toml_encode(table) end

---The table of a TOML text; dates are texts.
---`data.toml_decode(text) -> table | nil, error`
---@param text any
---@return any # table | nil, error
function data.toml_decode(text) end

---A value as XML below an element `root`, or one of that name. `@name` is an attribute, `#text` the text beside attributes, a list is the element several times (a list at the root, elements `item`).
---`data.xml_encode(value[, root]) -> text | nil, error`
---@param value any
---@param root? any
---@return any # text | nil, error
function data.xml_encode(value, root) end

---The table of an XML text: the element at the root by its name, as `xml_encode` understands it. Values are texts.
---`data.xml_decode(text) -> table | nil, error`
---@param text any
---@return any # table | nil, error
function data.xml_decode(text) end

---XML as JSON.
---`data.xml_to_json(text) -> text | nil, error`
---@param text any
---@return any # text | nil, error
function data.xml_to_json(text) end

---The rows of a CSV text, each a list of its fields; with `header` each a table by the names in the first row.
---`data.csv_parse(text[, separator[, { header }]]) -> rows, rows | nil, error`
---@param text any
---@param separator? any
---@param options? any
---@return any # rows, rows | nil, error
function data.csv_parse(text, separator, options) end

---Rows as CSV; each is a list of fields.
---`data.csv_generate(rows[, separator]) -> text | nil, error`
---@param rows any
---@param separator? any
---@return any # text | nil, error
function data.csv_generate(rows, separator) end

---A new table with everything of both; where both say something the second holds. Tables are merged, lists are not.
---`data.deep_merge(a, b) -> table, table`
---@param a any
---@param b any
---@return any # table, table
function data.deep_merge(a, b) end

---A table without tables in it: keys become paths, with dots if nothing else is said.
---`data.flatten(table[, separator]) -> table`
---@param table any
---@param separator? any
---@return any # table
function data.flatten(table, separator) end

---What `data.flatten` made, back again.
---`data.unflatten(table[, separator]) -> table, table`
---@param table any
---@param separator? any
---@return any # table, table
function data.unflatten(table, separator) end

---What lies at a path, or nil.
---`data.get_path(table, path[, separator]) -> value`
---@param table any
---@param path any
---@param separator? any
---@return any # value
function data.get_path(table, path, separator) end

---Puts a value at a path of the table, with the tables on the way, and gives the table.
---`data.set_path(table, path, value[, separator]) -> table`
---@param table any
---@param path any
---@param value any
---@param separator? any
---@return any # table
function data.set_path(table, path, value, separator) end

---The same as `data.json_decode`.
---`data.parse_json(text) -> value | nil, error`
---@param text any
---@return any # value | nil, error
function data.parse_json(text) end

---The same as `data.json_encode`, or as `data.json_pretty` with `true`.
---`data.to_json(value[, pretty]) -> text`
---@param value any
---@param pretty? any
---@return any # text
function data.to_json(value, pretty) end

---The same as `data.yaml_decode`.
---`data.parse_yaml(text) -> value | nil, error`
---@param text any
---@return any # value | nil, error
function data.parse_yaml(text) end

---The same as `data.yaml_encode`.
---`data.to_yaml(value) -> text`
---@param value any
---@return any # text
function data.to_yaml(value) end

---SQLite and PostgreSQL. Values are given beside the statement as a list and never become part of its text: `?` (SQLite) and `$1` (both) stand for them. A connection has a name, `default` if nothing else is said, belongs to the step, and ends with it. At most 100000 rows are taken. Whole numbers beyond 2^53, dates and `numeric` are texts. In check mode databases are opened to read, and what would change them is only said.
---@class hostler.db
db = {}

---Connects: `sqlite3` (or `sqlite`) with the path of a file or `:memory:`, `postgres` with a URL or with `host=.. user=.. password=.. dbname=..`.
---`db.connect(driver, dsn[, name]) -> true | false, error`
---@param driver any
---@param dsn any
---@param name? any
---@return any # true | false, error
function db.connect(driver, dsn, name) end

---Ends a connection.
---`db.close([name]) -> true | false, error`
---@param name? any
---@return any # true | false, error
function db.close(name) end

---Whether a connection is alive.
---`db.ping([name]) -> boolean, error`
---@param name? any
---@return any # boolean, error
function db.ping(name) end

---The rows of a statement, each a table by the names of its columns.
---`db.query(sql[, params][, name]) -> rows, rows | nil, error`
---@param sql any
---@param params? any
---@param name? any
---@return any # rows, rows | nil, error
function db.query(sql, params, name) end

---Does something. The result has `rows_affected` and, for SQLite, `last_insert_id`. Without values several statements may stand in it.
---`db.exec(sql[, params][, name]) -> result, result | nil, error`
---@param sql any
---@param params? any
---@param name? any
---@return any # result, result | nil, error
function db.exec(sql, params, name) end

---A statement to be used several times, with other values each time: `statement:query(params)`, `statement:exec(params)`, `statement:close()`.
---`db.prepare(sql[, name]) -> statement`
---@param sql any
---@param name? any
---@return any # statement
function db.prepare(sql, name) end

---Begins a transaction. `tx:query(..)`, `tx:exec(..)`, `tx:commit()` and `tx:rollback()` are those of its connection.
---`db.begin([name]) -> tx, tx | nil, error`
---@param name? any
---@return any # tx, tx | nil, error
function db.begin(name) end

---Makes a transaction hold.
---`db.commit([tx]) -> true | false, error`
---@param tx? any
---@return any # true | false, error
function db.commit(tx) end

---Takes a transaction back.
---`db.rollback([tx]) -> true | false, error`
---@param tx? any
---@return any # true | false, error
function db.rollback(tx) end

---Calls a function within a transaction, which holds when the function returns, and is taken back when it raises an error or returns `false` or `nil, error`.
---`db.transaction(function(tx)[, name]) -> true, results | false, error`
---@param function_ any
---@param name? any
---@return any # true, results | false, error
function db.transaction(function_, name) end

---A text as it can stand between `'` in a statement; to give it as a value is better.
---`db.escape(text) -> text`
---@param text any
---@return any # text
function db.escape(text) end

---The id of the row that was inserted last, with SQLite; with PostgreSQL use `insert .. returning id`.
---`db.last_insert_id([name]) -> number | nil`
---@param name? any
---@return any # number | nil
function db.last_insert_id(name) end

---How many rows the last `exec` touched.
---`db.rows_affected([name]) -> number`
---@param name? any
---@return any # number
function db.rows_affected(name) end

---DigitalOcean, with the `doctl` of the machine. Its token comes from `doctl auth init`, or from DIGITALOCEAN_ACCESS_TOKEN in the environment of the step.
---@class hostler.digitalocean
digitalocean = {}

---Runs doctl with a list of words. Where it answers with JSON, `data` has it as a table.
---`digitalocean.exec(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function digitalocean.exec(args, options) end

---Images and containers, with the `docker` of the machine. Functions that change something give their result twice, so that both `local ok, r =` and `local r =` work; `r.success` says whether it went well.
---@class hostler.docker
docker = {}

---Runs docker with a list of words.
---`docker.exec(args[, options]) -> result, result`
---@param args any
---@param options? any
---@return any # result, result
function docker.exec(args, options) end

---Builds an image from a directory.
---`docker.build{ tag, path, dockerfile, build_args, labels, target, platform, no_cache, pull } -> result, result`
---@param options any
---@return any # result, result
function docker.build(options) end

---Gives an image to its registry.
---`docker.push{ tag } -> result, result`
---@param options any
---@return any # result, result
function docker.push(options) end

---Gets an image from its registry.
---`docker.pull(image[, { platform }]) -> result, result`
---@param image any
---@param options? any
---@return any # result, result
function docker.pull(image, options) end

---Makes a container of an image and starts it. A command is a list of words, or a line for the shell in the container.
---`docker.run{ image, command, name, detach, remove, ports, env, env_file, volumes, network, restart, user, entrypoint, hostname, labels, memory, cpus, privileged } -> result, result`
---@param options any
---@return any # result, result
function docker.run(options) end

---Starts a container.
---`docker.start(name) -> result, result`
---@param name any
---@return any # result, result
function docker.start(name) end

---Stops a container; `time` is the seconds it is given.
---`docker.stop(name[, { time }]) -> result, result`
---@param name any
---@param options? any
---@return any # result, result
function docker.stop(name, options) end

---Stops and starts a container.
---`docker.restart(name[, { time }]) -> result, result`
---@param name any
---@param options? any
---@return any # result, result
function docker.restart(name, options) end

---Removes a container.
---`docker.rm(name[, { force, volumes }]) -> result, result`
---@param name any
---@param options? any
---@return any # result, result
function docker.rm(name, options) end

---Removes an image.
---`docker.rmi(image[, { force }]) -> result, result`
---@param image any
---@param options? any
---@return any # result, result
function docker.rmi(image, options) end

---Gives an image another name.
---`docker.tag(source, target) -> result, result`
---@param source any
---@param target any
---@return any # result, result
function docker.tag(source, target) end

---Runs a list of words, or a line for the shell, in a container.
---`docker.exec_in(container, command[, { user, env }]) -> result, result`
---@param container any
---@param command any
---@param options? any
---@return any # result, result
function docker.exec_in(container, command, options) end

---Copies between a container (`name:path`) and the machine.
---`docker.cp(from, to) -> result, result`
---@param from any
---@param to any
---@return any # result, result
function docker.cp(from, to) end

---Signs in at a registry; the password is given as `stdin`.
---`docker.login{ username, registry, stdin } -> result, result`
---@param options any
---@return any # result, result
function docker.login(options) end

---What a container printed.
---`docker.logs(name[, { tail, since, timestamps }]) -> result, result`
---@param name any
---@param options? any
---@return any # result, result
function docker.logs(name, options) end

---Containers, each as Docker describes it: `ID`, `Names`, `Image`, `State`.
---`docker.ps([{ all, filter }]) -> list | nil, error`
---@param options? any
---@return any # list | nil, error
function docker.ps(options) end

---Images, each as Docker describes it: `ID`, `Repository`, `Tag`, `Size`.
---`docker.images([{ all, filter }]) -> list | nil, error`
---@param options? any
---@return any # list | nil, error
function docker.images(options) end

---Everything about a container or an image.
---`docker.inspect(name) -> list | nil, error`
---@param name any
---@return any # list | nil, error
function docker.inspect(name) end

---Makes a network.
---`docker.network_create(name[, { driver, subnet, internal }]) -> result, result`
---@param name any
---@param options? any
---@return any # result, result
function docker.network_create(name, options) end

---Makes a volume.
---`docker.volume_create(name[, { driver }]) -> result, result`
---@param name any
---@param options? any
---@return any # result, result
function docker.volume_create(name, options) end

---Telling that something happened: whoever has a hook for that type of event is called. `event.register` is the same as `watcher.register`.
---@class hostler.event
event = {}

---Tells that something happened. The type is words of letters, digits, `_` and `-` with dots between.
---`event.dispatch(type[, data]) -> true, id | false, error`
---@param type any
---@param data? any
---@return any # true, id | false, error
function event.dispatch(type, data) end

---Tells an event of the type `custom` with a name and a message, which can be a text or a table.
---`event.dispatch_custom(name, message) -> true, id | false, error`
---@param name any
---@param message any
---@return any # true, id | false, error
function event.dispatch_custom(name, message) end

---Tells what happened to a file: `file.created`, `file.modified`, `file.deleted` or `file.renamed`.
---`event.dispatch_file(type, path[, watcher]) -> true, id | false, error`
---@param type any
---@param path any
---@param watcher? any
---@return any # true, id | false, error
function event.dispatch_file(type, path, watcher) end

---Programs on the machine where the step runs. A line is given to `bash` (to `sh` where there is none), in the working directory and with the environment of the step. What is started ends with the step at the latest. In check mode nothing is run unless the options have `reads = true`: the line is said, and the result is one of success without output.
---@class hostler.exec
exec = {}

---Runs a line of shell, or a list of a program and its arguments, to its end. The result has `stdout`, `stderr`, `exit_code`, `success` (also as `output`, `code`), and can be used as the text of its output.
---`exec.run(command[, { workdir, env, timeout, stdin, shell, reads }]) -> result, error`
---@param command any
---@param options? any
---@return any # result, error
function exec.run(command, options) end

---The same as `exec.run`.
---`exec.command(command[, options]) -> result, error`
---@param command any
---@param options? any
---@return any # result, error
function exec.command(command, options) end

---The same as `exec.run`.
---`exec.sh(command[, options]) -> result, error`
---@param command any
---@param options? any
---@return any # result, error
function exec.sh(command, options) end

---Runs a line for at most so long; it and everything it started is killed then, and its exit code is 124.
---`exec.run_timeout(command, seconds[, options]) -> result, error`
---@param command any
---@param seconds any
---@param options? any
---@return any # result, error
function exec.run_timeout(command, seconds, options) end

---Starts a line and goes on; the process has its number in `pid`. It ends with the step at the latest, and is killed after `timeout` where that is said.
---`exec.background(command[, options]) -> process | nil, error`
---@param command any
---@param options? any
---@return any # process | nil, error
function exec.background(command, options) end

---What a step gives to whoever asked for its execution: `export({ version = "1.2" })`. Later values replace earlier ones of the same name.
---@class hostler.export
export = {}

---The same as `export(table)`.
---`export.values(table) -> true`
---@param table any
---@return any # true
function export.values(table) end

---What is true of the machine where the step runs, as it is at that moment.
---@class hostler.facts
facts = {}

---Everything below in one table: `hostname`, `platform`, `memory`, `disk`, `network`, `users`, `processes`, `mounts`, `uptime`, `load`, `kernel`, `cpu`; packages and services only where they are asked for by name.
---`facts.get_all([{ agent }]) -> facts | nil, error`
---@param options? any
---@return any # facts | nil, error
function facts.get_all(options) end

---The name of the machine.
---`facts.get_hostname([{ agent }]) -> name | nil, error`
---@param options? any
---@return any # name | nil, error
function facts.get_hostname(options) end

---What the machine runs.
---`facts.get_platform([{ agent }]) -> { os, family, name, version, architecture, kernel, kernel_version, virtualization } | nil, error`
---@param options? any
---@return any # { os, family, name, version, architecture, kernel, kernel_version, virtualization } | nil, error
function facts.get_platform(options) end

---The operating system.
---`facts.os([{ agent }]) -> { name, id, version, family, arch, kernel } | nil, error`
---@param options? any
---@return any # { name, id, version, family, arch, kernel } | nil, error
function facts.os(options) end

---The same as `facts.os`.
---`facts.get_os([{ agent }]) -> { name, id, version, family, arch, kernel } | nil, error`
---@param options? any
---@return any # { name, id, version, family, arch, kernel } | nil, error
function facts.get_os(options) end

---How many processors a step may use.
---`facts.cpu_count([{ agent }]) -> number | nil, error`
---@param options? any
---@return any # number | nil, error
function facts.cpu_count(options) end

---Memory, in bytes.
---`facts.get_memory([{ agent }]) -> { total, available, used, used_percent, free, cached, buffers } | nil, error`
---@param options? any
---@return any # { total, available, used, used_percent, free, cached, buffers } | nil, error
function facts.get_memory(options) end

---Disks that are mounted, in bytes; one of them where its `mountpoint` is told.
---`facts.get_disk([{ agent, mountpoint }]) -> [{ device, mountpoint, fstype, total, used, free, used_percent }] | one | nil, error`
---@param options? any
---@return any # [{ device, mountpoint, fstype, total, used, free, used_percent }] | one | nil, error
function facts.get_disk(options) end

---Interfaces of the network; one of them where it is named. Addresses need the program `ip`.
---`facts.get_network([{ agent, interface }]) -> [{ name, mac, mtu, is_up, speed, addresses }] | one | nil, error`
---@param options? any
---@return any # [{ name, mac, mtu, is_up, speed, addresses }] | one | nil, error
function facts.get_network(options) end

---Packages that are installed.
---`facts.get_packages([{ agent }]) -> { manager, installed_count, packages, updates_available, updates } | nil, error`
---@param options? any
---@return any # { manager, installed_count, packages, updates_available, updates } | nil, error
function facts.get_packages(options) end

---Whether a package is installed, and which version.
---`facts.get_package({ name[, agent] }) -> { installed, name, version, architecture, description } | nil, error`
---@param options any
---@return any # { installed, name, version, architecture, description } | nil, error
function facts.get_package(options) end

---Services of systemd.
---`facts.get_services([{ agent }]) -> [{ name, status, state, description }] | nil, error`
---@param options? any
---@return any # [{ name, status, state, description }] | nil, error
function facts.get_services(options) end

---A service of systemd.
---`facts.get_service({ name[, agent] }) -> { name, status, state, enabled } | nil, error`
---@param options any
---@return any # { name, status, state, enabled } | nil, error
function facts.get_service(options) end

---Users of the machine.
---`facts.get_users([{ agent }]) -> [{ username, uid, gid, home, shell }] | nil, error`
---@param options? any
---@return any # [{ username, uid, gid, home, shell }] | nil, error
function facts.get_users(options) end

---A user of the machine.
---`facts.get_user({ username[, agent] }) -> { username, uid, gid, home, shell } | nil, error`
---@param options any
---@return any # { username, uid, gid, home, shell } | nil, error
function facts.get_user(options) end

---How many processes there are.
---`facts.get_processes([{ agent }]) -> { total, running, sleeping, zombie } | nil, error`
---@param options? any
---@return any # { total, running, sleeping, zombie } | nil, error
function facts.get_processes(options) end

---Everything that is mounted.
---`facts.get_mounts([{ agent }]) -> [{ device, mountpoint, fstype, options }] | nil, error`
---@param options? any
---@return any # [{ device, mountpoint, fstype, options }] | nil, error
function facts.get_mounts(options) end

---Since when the machine runs.
---`facts.get_uptime([{ agent }]) -> { seconds, boot_time, timezone } | nil, error`
---@param options? any
---@return any # { seconds, boot_time, timezone } | nil, error
function facts.get_uptime(options) end

---The load of the last minute, five and fifteen minutes, as a list.
---`facts.get_load([{ agent }]) -> { one, five, fifteen } | nil, error`
---@param options? any
---@return any # { one, five, fifteen } | nil, error
function facts.get_load(options) end

---The kernel.
---`facts.get_kernel([{ agent }]) -> { name, version } | nil, error`
---@param options? any
---@return any # { name, version } | nil, error
function facts.get_kernel(options) end

---One of all facts by its path, such as `memory.total` or `load.1`.
---`facts.query({ path[, agent] } | path) -> value | nil, error`
---@param options any
---@return any # value | nil, error
function facts.query(options) end

---Files as they are to be. What is so already is left alone and reported as not changed; what changes is told as a diff. Files are replaced as a whole, and keep their owner and mode unless told otherwise. Every function takes its arguments in one table or by position with a table of options at the end.
---@class hostler.file_ops
file_ops = {}

---Makes a file have the content of another, or the one given. Missing directories above are made. The result has `changed`, `message`, `diff`, `src`, `dest` and `size`.
---`file_ops.copy{ src | content, dest, mode, owner, group, follow } | (src, dest[, options]) -> result, result | nil, error`
---@param options any
---@param dest any
---@return any # result, result | nil, error
function file_ops.copy(options, dest) end

---Copies a file of the machine to another place on it; the same as `copy` with `src`.
---`file_ops.fetch{ src, dest, mode, owner, group, follow } | (src, dest[, options]) -> result, result | nil, error`
---@param options any
---@param dest any
---@return any # result, result | nil, error
function file_ops.fetch(options, dest) end

---Makes a file from a template with `{{ .name }}`, `{{ .a.b }}`, `if`, `else`, `range`, `with`, `end`, and the pipes `default`, `upper`, `lower`, `quote`, `join` and others. A name without a value is an error.
---`file_ops.template{ src | content, dest, vars, mode, owner, group, follow } | (src, dest, vars) -> result, result | nil, error`
---@param options any
---@param dest any
---@param vars any
---@return any # result, result | nil, error
function file_ops.template(options, dest, vars) end

---Makes a line be in a file, in place of the last one that fits `regexp` where there is one; `state = 'absent'` takes out what is the line or fits.
---`file_ops.lineinfile{ path, line, state, regexp, insert_after, insert_before, create, follow } | (path, line[, options]) -> result, result | nil, error`
---@param options any
---@param line any
---@return any # result, result | nil, error
function file_ops.lineinfile(options, line) end

---Makes lines be in a file between two markers; `state = 'absent'` takes them out with the markers.
---`file_ops.blockinfile{ path, block, state, marker_begin, marker_end, create, follow } | (path, block[, options]) -> result, result | nil, error`
---@param options any
---@param block any
---@return any # result, result | nil, error
function file_ops.blockinfile(options, block) end

---Replaces whatever fits a regular expression; `$1` in the replacement is what its first group matched.
---`file_ops.replace{ path, pattern, replacement, follow } | (path, pattern, replacement[, options]) -> result, result | nil, error`
---@param options any
---@param pattern any
---@param replacement any
---@return any # result, result | nil, error
function file_ops.replace(options, pattern, replacement) end

---Unpacks a zip or tar archive (plain or with gzip) into a directory. An archive that would write outside of it is refused as a whole.
---`file_ops.unarchive{ src, dest, owner, group } | (src, dest[, options]) -> result, result | nil, error`
---@param options any
---@param dest any
---@return any # result, result | nil, error
function file_ops.unarchive(options, dest) end

---What is at a path: `exists`, `path`, `size`, `mode`, `is_dir`, `is_directory`, `is_file`, `is_link`, `target`, `mtime`, `uid`, `gid`, `owner`, `group`, and the SHA-256 of a file as `checksum` unless `checksum = false`.
---`file_ops.stat{ path, follow, checksum } | (path) -> facts, facts | nil, error`
---@param options any
---@return any # facts, facts | nil, error
function file_ops.stat(options) end

---Makes a file be there, with a content where one is given; `state = 'absent'` removes it.
---`file_ops.file{ path, state, content, mode, owner, group, follow } | (path[, options]) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function file_ops.file(options) end

---Makes a directory be there, with those above; `state = 'absent'` removes it, with all that is in it only where `recursive = true`.
---`file_ops.directory{ path, state, mode, owner, group, follow, recursive } | (path[, options]) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function file_ops.directory(options) end

---Makes a symbolic link (or with `hard = true` a second name of a file) be there; a plain file in its place is replaced only with `force = true`.
---`file_ops.link{ path, target, state, hard, force } | (path, target[, options]) -> result, result | nil, error`
---@param options any
---@param target any
---@return any # result, result | nil, error
function file_ops.link(options, target) end

---Which traffic is let through: firewalld, ufw, iptables or nftables, whichever the machine has. On iptables and nftables only rules of ours are touched.
---@class hostler.firewall
firewall = {}

---The firewall of the machine: `firewalld`, `ufw`, `iptables`, `nftables` or `unknown`.
---`firewall.detect() -> name`
---@return any # name
function firewall.detect() end

---Puts the firewall to work, now and at boot. Let your own way in through before.
---`firewall.enable() -> result, result | nil, error`
---@return any # result, result | nil, error
function firewall.enable() end

---Lets everything through that only the firewall held up.
---`firewall.disable() -> result, result | nil, error`
---@return any # result, result | nil, error
function firewall.disable() end

---How the firewall is, in its own words.
---`firewall.status() -> text | nil, error`
---@return any # text | nil, error
function firewall.status() end

---Its rules, in its own words.
---`firewall.list() -> text | nil, error`
---@return any # text | nil, error
function firewall.list() end

---Takes rules away: all that were added to firewalld and ufw, ours from iptables and nftables.
---`firewall.flush() -> result, result | nil, error`
---@return any # result, result | nil, error
function firewall.flush() end

---Makes rules last over a boot.
---`firewall.save() -> result, result | nil, error`
---@return any # result, result | nil, error
function firewall.save() end

---Loads the rules that last.
---`firewall.reload() -> result, result | nil, error`
---@return any # result, result | nil, error
function firewall.reload() end

---Lets traffic to a port in; TCP unless told otherwise.
---`firewall.allow_port(port[, protocol]) -> result, result | nil, error`
---@param port any
---@param protocol? any
---@return any # result, result | nil, error
function firewall.allow_port(port, protocol) end

---Holds traffic to a port up, without an answer.
---`firewall.deny_port(port[, protocol]) -> result, result | nil, error`
---@param port any
---@param protocol? any
---@return any # result, result | nil, error
function firewall.deny_port(port, protocol) end

---Lets everything from an address or a network in.
---`firewall.allow_from(address) -> result, result | nil, error`
---@param address any
---@return any # result, result | nil, error
function firewall.allow_from(address) end

---Holds everything from an address or a network up.
---`firewall.deny_from(address) -> result, result | nil, error`
---@param address any
---@return any # result, result | nil, error
function firewall.deny_from(address) end

---A rule to put together with its methods, each of which gives the rule back, until it is applied, removed or asked for.
---`firewall.rule() -> rule`
---@return any # rule
function firewall.rule() end

---Servers and clients of the Fast Reverse Proxy, as units of systemd. What is called `name` has its configuration in `/etc/frp/name.toml` and the unit `name.service`.
---@class hostler.frp
frp = {}

---A server (`frps`).
---`frp.server(name) -> server`
---@param name any
---@return any # server
function frp.server(name) end

---A client (`frpc`).
---`frp.client(name) -> client`
---@param name any
---@return any # client
function frp.client(name) end

---Gets `frps` and `frpc` of a version (`latest` where none is said), checks them against their published sums, and puts them into `dest` (`/usr/local/bin`). A version that is there stays.
---`frp.install([version][, { url, dest }]) -> result | nil, error`
---@param version? any
---@param options? any
---@return any # result | nil, error
function frp.install(version, options) end

---Files and directories of the machine where the step runs. Paths are relative to the working directory of the step; `~/` is its home. In check mode nothing is changed.
---@class hostler.fs
fs = {}

---All of a file, of at most 256 MiB.
---`fs.read(path) -> text | nil, error`
---@param path any
---@return any # text | nil, error
function fs.read(path) end

---Makes a file hold a text; what was in it is gone. The result of a program can be given as it is.
---`fs.write(path, text) -> true | false, error`
---@param path any
---@param text any
---@return any # true | false, error
function fs.write(path, text) end

---Adds a text to the end of a file, which is made if it is not there.
---`fs.append(path, text) -> true | false, error`
---@param path any
---@param text any
---@return any # true | false, error
function fs.append(path, text) end

---Makes a directory and those above it; one that is there is fine.
---`fs.mkdir(path[, options]) -> true | false, error`
---@param path any
---@param options? any
---@return any # true | false, error
function fs.mkdir(path, options) end

---Removes a file or an empty directory.
---`fs.rm(path) -> true | false, error`
---@param path any
---@return any # true | false, error
function fs.rm(path) end

---Removes a file, or a directory with everything in it; one that is not there is fine. The root is refused.
---`fs.rmr(path) -> true | false, error`
---@param path any
---@return any # true | false, error
function fs.rmr(path) end

---The same as `fs.rmr`.
---`fs.rm_r(path) -> true | false, error`
---@param path any
---@return any # true | false, error
function fs.rm_r(path) end

---Copies a file with its permissions, or a directory with everything in it. Where the destination is a directory a file goes into it.
---`fs.copy(source, destination) -> true | false, error`
---@param source any
---@param destination any
---@return any # true | false, error
function fs.copy(source, destination) end

---Gives a file or directory another name.
---`fs.move(source, destination) -> true | false, error`
---@param source any
---@param destination any
---@return any # true | false, error
function fs.move(source, destination) end

---Whether something is there; a link that leads nowhere is not.
---`fs.exists(path) -> boolean`
---@param path any
---@return any # boolean
function fs.exists(path) end

---Whether a directory is there.
---`fs.is_dir(path) -> boolean`
---@param path any
---@return any # boolean
function fs.is_dir(path) end

---Whether a file is there.
---`fs.is_file(path) -> boolean`
---@param path any
---@return any # boolean
function fs.is_file(path) end

---The names in a directory, sorted.
---`fs.ls(path) -> { name } | nil, error`
---@param path any
---@return any # { name } | nil, error
function fs.ls(path) end

---What is known about a file; of a link, about what it leads to. `type` is `file`, `directory` or `other`, `mode` a text as `0644`, `mtime` seconds since 1970.
---`fs.stat(path) -> { path, type, is_dir, is_file, is_link, size, mode, mtime, uid, gid } | nil, error`
---@param path any
---@return any # { path, type, is_dir, is_file, is_link, size, mode, mtime, uid, gid } | nil, error
function fs.stat(path) end

---The size of a file.
---`fs.size(path) -> bytes | nil, error`
---@param path any
---@return any # bytes | nil, error
function fs.size(path) end

---Makes an empty file with a name that nobody has, readable only for the user of the step, in `TMPDIR` or `/tmp`.
---`fs.tmpname([prefix]) -> path | nil, error`
---@param prefix? any
---@return any # path | nil, error
function fs.tmpname(prefix) end

---The last part of a path.
---`fs.basename(path) -> text`
---@param path any
---@return any # text
function fs.basename(path) end

---A path without its last part.
---`fs.dirname(path) -> text`
---@param path any
---@return any # text
function fs.dirname(path) end

---Parts as one path; one that begins with `/` starts anew.
---`fs.join(part, ...) -> path`
---@param part any
---@param ... any
---@return any # path
function fs.join(part, ...) end

---Google Cloud, with the `gcloud` of the machine and whoever is signed in there. A client keeps its project, and what comes of it its zone or region: `gcp.client{ project = 'p' }:compute{ zone = 'z' }:instances():list()`. Results have `stdout` and what it says as a table in `data`.
---@class hostler.gcp
gcp = {}

---A client for a project.
---`gcp.client{ project, region, zone } -> client`
---@param options any
---@return any # client
function gcp.client(options) end

---Runs gcloud with a list of words.
---`gcp.exec(args[, { project }]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function gcp.exec(args, options) end

---Git repositories, with the `git` of the machine. A clone or `git.repo(path)` is an object whose methods can be chained; a chain stops where something failed.
---@class hostler.git
git = {}

---Clones a repository. One that is there already is taken as it is (`repo.exists`), unless it is of another address; with `clean` what is there is removed first. The repo has `path`, `url`, `changed`, `current.branch` and `remote.url`.
---`git.clone(url, path[, { branch, depth, clean }]) or { url, local_path, branch, depth, clean } -> repo | nil, error`
---@param url any
---@param path any
---@param options? any
---@return any # repo | nil, error
function git.clone(url, path, options) end

---A repository that is there.
---`git.repo(path) -> repo | nil, error`
---@param path any
---@return any # repo | nil, error
function git.repo(path) end

---Whether a directory is a repository, or in one.
---`git.is_repo(path) or { path } -> boolean`
---@param options any
---@return any # boolean
function git.is_repo(options) end

---Takes over what the remote has, where no merge is needed; `changed` says whether there was something.
---`git.pull{ path, remote, branch, rebase } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function git.pull(options) end

---Commits what was added, with `add_all` everything. Where there is nothing to commit, `changed` is false.
---`git.commit{ path, message, add_all, author } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function git.commit(options) end

---Removes a directory with everything in it, so that a clone can go there.
---`git.ensure_clean(path) or { path } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function git.ensure_clean(options) end

---Runs git with a list of words.
---`git.exec(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function git.exec(args, options) end

---Makes a repository.
---`git.init(path[, { branch, bare }]) -> result | nil, error`
---@param path any
---@param options? any
---@return any # result | nil, error
function git.init(path, options) end

---What is different from the last commit, one path a line.
---`git.status{ path } -> text | nil, error`
---@param options any
---@return any # text | nil, error
function git.status(options) end

---Goes to a branch, a tag or a commit.
---`git.checkout{ path, branch, create, force } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function git.checkout(options) end

---Adds files to the next commit; everything where none is named.
---`git.add{ path, files } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function git.add(options) end

---Gives commits to a remote.
---`git.push{ path, remote, branch, force, follow_tags, tags, set_upstream } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function git.push(options) end

---Gets what a remote has, and changes no file.
---`git.fetch{ path, remote, branch, prune, tags, depth } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function git.fetch(options) end

---Names the commit that is checked out.
---`git.tag{ path, name, message, force } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function git.tag(options) end

---Commits, the newest first, one a line.
---`git.log{ path, limit } -> lines | nil, error`
---@param options any
---@return any # lines | nil, error
function git.log(options) end

---The branch that is checked out.
---`git.current_branch{ path } -> text | nil, error`
---@param options any
---@return any # text | nil, error
function git.current_branch(options) end

---The full name of a commit.
---`git.revision{ path, ref } -> text | nil, error`
---@param options any
---@return any # text | nil, error
function git.revision(options) end

---What a repository says, made so. State is kept in `~/.hostler/gitops`, or in the directory that HOSTLER_GITOPS_DIR names in the environment of the step. To follow a branch, call `gitops.sync_workflow` on a schedule, or `gitops.start_auto_sync` in a step that stays.
---@class hostler.gitops
gitops = {}

---Registers a repository and a workflow for it in one; with `diff_preview` it says what is different, with `auto_sync` it is applied at once, and again whenever `gitops.start_auto_sync` finds something new.
---`gitops.workflow{ repo, branch, path, command, id, auto_sync, rollback_on_failure, diff_preview } -> true, { workflow_id, repository_id, status, diff } | nil, error`
---@param options any
---@return any # true, { workflow_id, repository_id, status, diff } | nil, error
function gitops.workflow(options) end

---Remembers a repository and its branch.
---`gitops.register_repository{ id, url, branch } -> id | nil, error`
---@param options any
---@return any # id | nil, error
function gitops.register_repository(options) end

---Remembers a workflow for a repository. `command` is a list of words that applies the directory: it runs there, with GITOPS_REVISION and GITOPS_CHANGED (a path a line) in its environment. Without one, workflows (`.sloth`, `.lua`) and tasks (`.yaml`, `.json`) that are new or other are given to `hostler`.
---`gitops.create_workflow{ id, name, repository, target_path, command, auto_sync, rollback_on_failure } -> id | nil, error`
---@param options any
---@return any # id | nil, error
function gitops.create_workflow(options) end

---Applies what is different from the revision that was applied last: `changed`, `revision`, `previous`, `diff`.
---`gitops.sync_workflow(id) -> result | nil, error`
---@param id any
---@return any # result | nil, error
function gitops.sync_workflow(id) end

---What a sync would apply. A change has `type` (`created`, `updated`, `deleted`) and `path`; conflicts are files of the checkout that somebody else has changed.
---`gitops.generate_diff(id) -> { total_changes, created_resources, updated_resources, deleted_resources, conflict_count, summary, changes, warnings } | nil, error`
---@param id any
---@return any # { total_changes, created_resources, updated_resources, deleted_resources, conflict_count, summary, changes, warnings } | nil, error
function gitops.generate_diff(id) end

---The same as text.
---`gitops.preview_changes(id) -> text | nil, error`
---@param id any
---@return any # text | nil, error
function gitops.preview_changes(id) end

---Applies the revision before.
---`gitops.rollback_workflow(id[, reason]) -> result | nil, error`
---@param id any
---@param reason? any
---@return any # result | nil, error
function gitops.rollback_workflow(id, reason) end

---How a workflow is: `created`, `synced`, `failed` or `rolled_back`.
---`gitops.get_workflow_status(id) -> { id, status, revision, previous, history, error } | nil, error`
---@param id any
---@return any # { id, status, revision, previous, history, error } | nil, error
function gitops.get_workflow_status(id) end

---Workflows and how they are.
---`gitops.list_workflows() -> list`
---@return any # list
function gitops.list_workflows() end

---Applies what is new of every workflow that has `auto_sync`, now and every `interval` (a minute where nobody says), for as long as the step lasts. What fails is told, and tried again the next time.
---`gitops.start_auto_sync([{ interval }]) -> true`
---@param options? any
---@return any # true
function gitops.start_auto_sync(options) end

---Ends that; whether it was at work.
---`gitops.stop_auto_sync() -> boolean`
---@return any # boolean
function gitops.stop_auto_sync() end

---Functions that go on at the same time, in two words.
---@class hostler.go
go = {}

---Starts a function.
---`go.create(fn[, ...]) -> handle`
---@param fn any
---@param ...? any
---@return any # handle
function go.create(fn, ...) end

---Waits for all of them, for at most so long; who is not done then has failed with `timeout exceeded`.
---`go.wait_all(handles[, seconds]) -> { { success, value, values, error } }`
---@param handles any
---@param seconds? any
---@return any # { { success, value, values, error } }
function go.wait_all(handles, seconds) end

---Functions that go on at the same time, and what they agree with. They act for the step that started them, share its variables, and end with it at the latest. Numbers of time are milliseconds; a text such as `2s` is understood too.
---@class hostler.goroutine
goroutine = {}

---Starts a function that goes on by itself. What it raises is told in the output of the step.
---`goroutine.spawn(fn[, ...]) -> true`
---@param fn any
---@param ...? any
---@return any # true
function goroutine.spawn(fn, ...) end

---Starts a function so many times; each is given its number, from 1.
---`goroutine.spawn_many(count, fn) -> true`
---@param count any
---@param fn any
---@return any # true
function goroutine.spawn_many(count, fn) end

---Counts what is still going.
---`goroutine.wait_group() -> group`
---@return any # group
function goroutine.wait_group() end

---Starts a function whose results are wanted later.
---`goroutine.async(fn[, ...]) -> handle`
---@param fn any
---@param ...? any
---@return any # handle
function goroutine.async(fn, ...) end

---Waits for what `goroutine.async` started.
---`goroutine.await(handle) -> true, values... | false, error`
---@param handle any
---@return any # true, values... | false, error
function goroutine.await(handle) end

---Waits for all of them; results are in the order of the list.
---`goroutine.await_all(handles) -> { { success, value, values, error } }`
---@param handles any
---@return any # { { success, value, values, error } }
function goroutine.await_all(handles) end

---Waits; others go on.
---`goroutine.sleep(milliseconds)`
---@param milliseconds any
function goroutine.sleep(milliseconds) end

---Calls a function and gives up after that time; what it started and waits for is ended.
---`goroutine.timeout(milliseconds, fn) -> true, values... | false, error`
---@param milliseconds any
---@param fn any
---@return any # true, values... | false, error
function goroutine.timeout(milliseconds, fn) end

---Calls `fn(item, index)` for every item at the same time (so many at once), and gives the results in the order of the list. Waits for all, and raises when one of them failed.
---`goroutine.map(list, fn[, { concurrency }]) -> results`
---@param list any
---@param fn any
---@param options? any
---@return any # results
function goroutine.map(list, fn, options) end

---Makes a pool of workers for this step.
---`goroutine.pool_create(name[, { workers = 10 }]) -> true | false, error`
---@param name any
---@param options? any
---@return any # true | false, error
function goroutine.pool_create(name, options) end

---Lets a worker of the pool call a function when it is its turn.
---`goroutine.pool_submit(name, fn) -> id | nil, error`
---@param name any
---@param fn any
---@return any # id | nil, error
function goroutine.pool_submit(name, fn) end

---Waits until the pool has nothing to do.
---`goroutine.pool_wait(name) -> true`
---@param name any
---@return any # true
function goroutine.pool_wait(name) end

---Takes nothing more, waits for what it has, and forgets the pool.
---`goroutine.pool_close(name) -> true`
---@param name any
---@return any # true
function goroutine.pool_close(name) end

---What the pool does and did.
---`goroutine.pool_stats(name) -> { name, workers, active, completed, failed, queued }`
---@param name any
---@return any # { name, workers, active, completed, failed, queued }
function goroutine.pool_stats(name) end

---Hands values from one goroutine to another. Without capacity, who sends waits for who receives. The direction can be `send`, `receive` or `both`.
---`goroutine.channel([capacity = 0[, direction]]) -> channel`
---@param capacity? any
---@param direction? any
---@return any # channel
function goroutine.channel(capacity, direction) end

---The same as `channel:send`.
---`goroutine.channel_send(channel, value) -> true | false, error`
---@param channel any
---@param value any
---@return any # true | false, error
function goroutine.channel_send(channel, value) end

---The same as `channel:receive`.
---`goroutine.channel_receive(channel) -> value, true | nil, false`
---@param channel any
---@return any # value, true | nil, false
function goroutine.channel_receive(channel) end

---The same as `channel:close`.
---`goroutine.channel_close(channel) -> boolean`
---@param channel any
---@return any # boolean
function goroutine.channel_close(channel) end

---The same as `channel:len`.
---`goroutine.channel_len(channel) -> number`
---@param channel any
---@return any # number
function goroutine.channel_len(channel) end

---The same as `channel:cap`.
---`goroutine.channel_cap(channel) -> number`
---@param channel any
---@return any # number
function goroutine.channel_cap(channel) end

---Waits until one of the cases can go on, and calls its handler: `{ channel, receive = true, handler = fn(value, ok) }`, `{ channel, send = value, handler = fn() }`, `{ default = true, handler = fn() }`. Of several, the first in the list is taken. Gives its place in the list and what the handler returned.
---`goroutine.select(cases) -> index, values...`
---@param cases any
---@return any # index, values...
function goroutine.select(cases) end

---The same for at most so long.
---`goroutine.select_timeout(milliseconds, cases) -> timed_out, index, values...`
---@param milliseconds any
---@param cases any
---@return any # timed_out, index, values...
function goroutine.select_timeout(milliseconds, cases) end

---Lets one goroutine in at a time.
---`goroutine.mutex() -> mutex`
---@return any # mutex
function goroutine.mutex() end

---Lets many readers in, or one writer.
---`goroutine.rwmutex() -> mutex`
---@return any # mutex
function goroutine.rwmutex() end

---Lets so many in at a time.
---`goroutine.semaphore(tokens) -> semaphore`
---@param tokens any
---@return any # semaphore
function goroutine.semaphore(tokens) end

---A whole number that goroutines count with.
---`goroutine.atomic_int([value = 0]) -> counter`
---@param value? any
---@return any # counter
function goroutine.atomic_int(value) end

---Calls a function once, whoever asks.
---`goroutine.once() -> once`
---@return any # once
function goroutine.once() end

---A condition that goroutines wait for, with the mutex that guards it.
---`goroutine.cond([mutex]) -> cond`
---@param mutex? any
---@return any # cond
function goroutine.cond(mutex) end

---Whether there is still a point in going on; for goroutines that ask.
---`goroutine.context() -> context, cancel`
---@return any # context, cancel
function goroutine.context() end

---Lets every value that comes from a channel go through functions, each with so many workers, into the channel that is given back. A value for which a function gives nil is left out; what it raises is told. With one worker each, values keep their order.
---`goroutine.pipeline(input, { { workers = 1, fn } }) -> output`
---@param input any
---@param options any
---@return any # output
function goroutine.pipeline(input, options) end

---Lets what comes from a channel go to whichever of the new channels is received from first.
---`goroutine.fan_out(input, count) -> channels`
---@param input any
---@param count any
---@return any # channels
function goroutine.fan_out(input, count) end

---Lets what comes from several channels go to one, which is closed when all of them are.
---`goroutine.fan_in(channels) -> channel`
---@param channels any
---@return any # channel
function goroutine.fan_in(channels) end

---Releases of Helm charts, with the `helm` of the machine. What changes something gives `true, output` or `false, error`; what looks gives what Helm says, as a table where it can.
---@class hostler.helm
helm = {}

---Installs a chart as a release.
---`helm.install(name, chart[, { namespace, context, create_namespace, version, values, values_file, wait, timeout, dry_run, atomic }]) -> boolean, output`
---@param name any
---@param chart any
---@param options? any
---@return any # boolean, output
function helm.install(name, chart, options) end

---Brings a release to a chart and values; with `install` it is made where it is not there.
---`helm.upgrade(name, chart[, { install, force, reset_values, reuse_values, namespace, context, create_namespace, version, values, values_file, wait, timeout, dry_run, atomic }]) -> boolean, output`
---@param name any
---@param chart any
---@param options? any
---@return any # boolean, output
function helm.upgrade(name, chart, options) end

---Removes a release.
---`helm.uninstall(name[, { namespace, context, keep_history, wait }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function helm.uninstall(name, options) end

---Releases: `name`, `namespace`, `revision`, `status`, `chart`.
---`helm.list([{ namespace, context, all_namespaces, filter }]) -> list | nil, error`
---@param options? any
---@return any # list | nil, error
function helm.list(options) end

---How a release is.
---`helm.status(name[, { namespace, context, revision }]) -> table | nil, error`
---@param name any
---@param options? any
---@return any # table | nil, error
function helm.status(name, options) end

---A part of a release: `all`, `values`, `manifest`, `notes`, `hooks`.
---`helm.get(what, release[, { namespace, context, revision }]) -> output | nil, error`
---@param what any
---@param release any
---@param options? any
---@return any # output | nil, error
function helm.get(what, release, options) end

---Brings a release back to a revision, the one before where none is named.
---`helm.rollback(release[, revision][, { namespace, context, wait, timeout, force }]) -> boolean, output`
---@param release any
---@param revision? any
---@param options? any
---@return any # boolean, output
function helm.rollback(release, revision, options) end

---Revisions of a release.
---`helm.history(release[, { namespace, context, max }]) -> list | nil, error`
---@param release any
---@param options? any
---@return any # list | nil, error
function helm.history(release, options) end

---Runs the tests of a release.
---`helm.test(release[, { namespace, context, timeout, logs }]) -> boolean, output`
---@param release any
---@param options? any
---@return any # boolean, output
function helm.test(release, options) end

---Looks for mistakes in a chart.
---`helm.lint(chart[, { values_file, strict }]) -> boolean, output`
---@param chart any
---@param options? any
---@return any # boolean, output
function helm.lint(chart, options) end

---What a chart would make, as text.
---`helm.template(name, chart[, { namespace, version, values, values_file }]) -> output | nil, error`
---@param name any
---@param chart any
---@param options? any
---@return any # output | nil, error
function helm.template(name, chart, options) end

---What a chart depends on: `update`, `build`, `list`.
---`helm.dependency(action, chart) -> boolean, output`
---@param action any
---@param chart any
---@return any # boolean, output
function helm.dependency(action, chart) end

---Packs a chart into an archive.
---`helm.package(chart[, { destination, version, app_version }]) -> boolean, output`
---@param chart any
---@param options? any
---@return any # boolean, output
function helm.package(chart, options) end

---Adds a repository of charts; a password is given as `stdin`.
---`helm.repo_add(name, url[, { username, stdin, force_update }]) -> boolean, output`
---@param name any
---@param url any
---@param options? any
---@return any # boolean, output
function helm.repo_add(name, url, options) end

---Gets what repositories have.
---`helm.repo_update() -> boolean, output`
---@return any # boolean, output
function helm.repo_update() end

---Repositories: `name`, `url`.
---`helm.repo_list() -> list | nil, error`
---@return any # list | nil, error
function helm.repo_list() end

---Forgets a repository.
---`helm.repo_remove(name) -> boolean, output`
---@param name any
---@return any # boolean, output
function helm.repo_remove(name) end

---Charts in the repositories.
---`helm.search_repo([keyword][, { version, versions }]) -> list | nil, error`
---@param keyword? any
---@param options? any
---@return any # list | nil, error
function helm.search_repo(keyword, options) end

---Charts in the public hub.
---`helm.search_hub([keyword]) -> list | nil, error`
---@param keyword? any
---@return any # list | nil, error
function helm.search_hub(keyword) end

---Makes the skeleton of a chart.
---`helm.create(name) -> boolean, output`
---@param name any
---@return any # boolean, output
function helm.create(name) end

---Installs a plugin.
---`helm.plugin_install(url[, { version }]) -> boolean, output`
---@param url any
---@param options? any
---@return any # boolean, output
function helm.plugin_install(url, options) end

---Plugins.
---`helm.plugin_list() -> output | nil, error`
---@return any # output | nil, error
function helm.plugin_list() end

---Removes a plugin.
---`helm.plugin_uninstall(name) -> boolean, output`
---@param name any
---@return any # boolean, output
function helm.plugin_uninstall(name) end

---The version of Helm.
---`helm.version() -> output | nil, error`
---@return any # output | nil, error
function helm.version() end

---Runs helm with a list of words.
---`helm.exec(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function helm.exec(args, options) end

---Requests. They take 30 seconds at most if nothing else is said, follow 10 redirections, use the proxies in the environment of the step, and take answers of up to 64 MiB. The result has `status_code`, `status`, `body`, `headers` (found however they are written), `success` (2xx) and, where the answer is JSON, `json`; it can be used as the text of its body. An answer that says no is a result too; `nil, error` is when there was none. In check mode only GET and HEAD are sent.
---@class hostler.http
http = {}

---Asks for something.
---`http.get(url[, headers | { headers, timeout }]) -> result | nil, error`
---@param url any
---@param options? any
---@return any # result | nil, error
function http.get(url, options) end

---Asks for the headers only.
---`http.head(url[, headers | { headers, timeout }]) -> result | nil, error`
---@param url any
---@param options? any
---@return any # result | nil, error
function http.head(url, options) end

---Asks to remove something.
---`http.delete(url[, headers | { headers, timeout }]) -> result | nil, error`
---@param url any
---@param options? any
---@return any # result | nil, error
function http.delete(url, options) end

---Sends something: a text, or a table as JSON.
---`http.post(url[, body[, headers | { headers, timeout }]]) -> result | nil, error`
---@param url any
---@param body? any
---@param options? any
---@return any # result | nil, error
function http.post(url, body, options) end

---Puts something in its place.
---`http.put(url[, body[, headers | { headers, timeout }]]) -> result | nil, error`
---@param url any
---@param body? any
---@param options? any
---@return any # result | nil, error
function http.put(url, body, options) end

---Changes something.
---`http.patch(url[, body[, headers | { headers, timeout }]]) -> result | nil, error`
---@param url any
---@param body? any
---@param options? any
---@return any # result | nil, error
function http.patch(url, body, options) end

---Any request. `query` is a table that is added to the URL, `json` a value that is sent as JSON.
---`http.request({ url, method, body, json, headers, query, timeout }) -> result | nil, error`
---@param options any
---@return any # result | nil, error
function http.request(options) end

---Containers and virtual machines of Incus, with the `incus` of the machine. An instance with an image that was not created yet keeps its settings for `:create()`; settings of any other instance are made at once.
---@class hostler.incus
incus = {}

---A container, or with `type = 'vm'` a virtual machine.
---`incus.instance(name) or { name, image, type, profiles, config, devices, ephemeral } -> instance`
---@param options any
---@return any # instance
function incus.instance(options) end

---An image by its alias.
---`incus.image(alias) or { name, source, server } -> image`
---@param options any
---@return any # image
function incus.image(options) end

---A network.
---`incus.network(name) or { name, type, description, config } -> network`
---@param options any
---@return any # network
function incus.network(options) end

---A profile: settings that instances share.
---`incus.profile(name) or { name, description, config, devices } -> profile`
---@param options any
---@return any # profile
function incus.profile(options) end

---A storage pool.
---`incus.storage(name) or { name, driver, description, config } -> storage`
---@param options any
---@return any # storage
function incus.storage(options) end

---A snapshot of an instance.
---`incus.snapshot(instance, name) -> snapshot`
---@param instance any
---@param name any
---@return any # snapshot
function incus.snapshot(instance, name) end

---Instances, or with `type` images, networks, profiles or storage: as a list, or as text in a `format` (`csv`, `json`, `table`, `yaml`).
---`incus.list([{ type, format }]) -> list | nil, error`
---@param options? any
---@return any # list | nil, error
function incus.list(options) end

---Everything about an instance, or with `type` about something else.
---`incus.info{ type, name } -> table | nil, error`
---@param options any
---@return any # table | nil, error
function incus.info(options) end

---Deletes an instance, or with `type` something else.
---`incus.delete{ type, name, force } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function incus.delete(options) end

---Runs a list of words, or a line for the shell, in an instance.
---`incus.exec{ instance, command, cwd, user, group, environment } -> result, error`
---@param options any
---@return any # result, error
function incus.exec(options) end

---Asks the server itself.
---`incus.query(path[, { request, data }]) -> table | nil, error`
---@param path any
---@param options? any
---@return any # table | nil, error
function incus.query(path, options) end

---What must be true of the machine. Each function gives `true`, or raises an error that says what is so instead. Arguments are given by position or as names in a table.
---@class hostler.infra_test
infra_test = {}

---Something is at a path.
---`infra_test.file_exists(path) -> true`
---@param path any
---@return any # true
function infra_test.file_exists(path) end

---A directory is at a path.
---`infra_test.is_directory(path) -> true`
---@param path any
---@return any # true
function infra_test.is_directory(path) end

---A plain file is at a path.
---`infra_test.is_file(path) -> true`
---@param path any
---@return any # true
function infra_test.is_file(path) end

---A file has a text in it, or something that fits a regular expression.
---`infra_test.file_contains(path, pattern) -> true`
---@param path any
---@param pattern any
---@return any # true
function infra_test.file_contains(path, pattern) end

---A file has a mode, in octal digits.
---`infra_test.file_mode(path, mode) -> true`
---@param path any
---@param mode any
---@return any # true
function infra_test.file_mode(path, mode) end

---A file belongs to a user, by name or number.
---`infra_test.file_owner(path, user) -> true`
---@param path any
---@param user any
---@return any # true
function infra_test.file_owner(path, user) end

---A file belongs to a group, by name or number.
---`infra_test.file_group(path, group) -> true`
---@param path any
---@param group any
---@return any # true
function infra_test.file_group(path, group) end

---A file has so many bytes.
---`infra_test.file_size(path, bytes) -> true`
---@param path any
---@param bytes any
---@return any # true
function infra_test.file_size(path, bytes) end

---Somebody waits on a port, TCP or UDP.
---`infra_test.port_is_listening(port) -> true`
---@param port any
---@return any # true
function infra_test.port_is_listening(port) end

---Somebody waits for TCP on a port.
---`infra_test.port_is_tcp(port) -> true`
---@param port any
---@return any # true
function infra_test.port_is_tcp(port) end

---Somebody waits for UDP on a port.
---`infra_test.port_is_udp(port) -> true`
---@param port any
---@return any # true
function infra_test.port_is_udp(port) end

---A TCP connection can be made; 5 seconds are waited unless told otherwise.
---`infra_test.can_connect(host, port[, milliseconds]) -> true`
---@param host any
---@param port any
---@param milliseconds? any
---@return any # true
function infra_test.can_connect(host, port, milliseconds) end

---A machine answers to `ping`.
---`infra_test.ping(host[, count]) -> true`
---@param host any
---@param count? any
---@return any # true
function infra_test.ping(host, count) end

---A service of systemd runs.
---`infra_test.service_is_running(name) -> true`
---@param name any
---@return any # true
function infra_test.service_is_running(name) end

---A service of systemd starts at boot.
---`infra_test.service_is_enabled(name) -> true`
---@param name any
---@return any # true
function infra_test.service_is_enabled(name) end

---A process whose command line has a text in it, or fits a regular expression, runs.
---`infra_test.process_is_running(pattern) -> true`
---@param pattern any
---@return any # true
function infra_test.process_is_running(pattern) end

---So many processes fit.
---`infra_test.process_count(pattern, count) -> true`
---@param pattern any
---@param count any
---@return any # true
function infra_test.process_count(pattern, count) end

---A line of shell succeeds.
---`infra_test.command_succeeds(command) -> true`
---@param command any
---@return any # true
function infra_test.command_succeeds(command) end

---A line of shell fails.
---`infra_test.command_fails(command) -> true`
---@param command any
---@return any # true
function infra_test.command_fails(command) end

---A line of shell says a text, or something that fits a regular expression.
---`infra_test.command_stdout_contains(command, pattern) -> true`
---@param command any
---@param pattern any
---@return any # true
function infra_test.command_stdout_contains(command, pattern) end

---A line of shell complains about nothing.
---`infra_test.command_stderr_is_empty(command) -> true`
---@param command any
---@return any # true
function infra_test.command_stderr_is_empty(command) end

---A line of shell says just this, spaces around it aside.
---`infra_test.command_output_equals(command, expected) -> true`
---@param command any
---@param expected any
---@return any # true
function infra_test.command_output_equals(command, expected) end

---A package is installed.
---`infra_test.package_is_installed(name) -> true`
---@param name any
---@return any # true
function infra_test.package_is_installed(name) end

---A package is installed in a version; the beginning of one is enough up to a dot or dash.
---`infra_test.package_version(name, version) -> true`
---@param name any
---@param version any
---@return any # true
function infra_test.package_version(name, version) end

---Files and programs as Lua has them. A step has no input, and what it writes to `io.stdout` and `io.stderr` are its words, a call at least a line.
---@class hostler.io
io = {}

---Opens a file: `r` to read (which is meant without a mode), `w` to write it anew, `a` to add to its end, with `+` to do both. Named pipes are refused.
---`io.open(path[, mode]) -> file | nil, error`
---@param path any
---@param mode? any
---@return any # file | nil, error
function io.open(path, mode) end

---Runs a line of shell. With `r` it runs to its end and what it printed can be read; with `w` it runs when the handle is closed, with what was written to it. What it prints besides are words of the step.
---`io.popen(command[, mode]) -> file | nil, error`
---@param command any
---@param mode? any
---@return any # file | nil, error
function io.popen(command, mode) end

---The lines of a file, which is closed after the last.
---`io.lines(path) -> iterator`
---@param path any
---@return any # iterator
function io.lines(path) end

---Reads from the input of the step, which has none.
---`io.read(...) -> nil`
---@param ... any
---@return any # nil
function io.read(...) end

---Says something.
---`io.write(...) -> file`
---@param ... any
---@return any # file
function io.write(...) end

---The same as `io.stdout`.
---`io.output() -> file`
---@return any # file
function io.output() end

---The same as `io.stdin`, in which nothing is.
---`io.input() -> file`
---@return any # file
function io.input() end

---A file without a name, to write and to read.
---`io.tmpfile() -> file | nil, error`
---@return any # file | nil, error
function io.tmpfile() end

---The same as `file:close()`.
---`io.close(file) -> true`
---@param file any
---@return any # true
function io.close(file) end

---What kind of handle a value is.
---`io.type(value) -> "file" | "closed file" | nil`
---@param value any
---@return any # "file" | "closed file" | nil
function io.type(value) end

---JSON, as in `data`.
---@class hostler.json
json = {}

---The same as `data.json_encode`.
---`json.encode(table) -> text | nil, error`
---@param table any
---@return any # text | nil, error
function json.encode(table) end

---The same as `data.json_decode`.
---`json.decode(text) -> value | nil, error`
---@param text any
---@return any # value | nil, error
function json.decode(text) end

---The same as `kubernetes`.
---@class hostler.k8s
k8s = {}

---Runs kubectl with a list of words.
---`k8s.exec_args(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function k8s.exec_args(args, options) end

---Makes what a file describes so. `-` takes the description from `stdin`.
---`k8s.apply(file[, { namespace, context, dry_run, server_side, prune, selector, recursive }]) -> boolean, output`
---@param file any
---@param options? any
---@return any # boolean, output
function k8s.apply(file, options) end

---Deletes an object.
---`k8s.delete(kind, name[, { namespace, context, force, grace_period, ignore_not_found, wait }]) -> boolean, output`
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function k8s.delete(kind, name, options) end

---Objects of a kind, as text; `output` is how (`json`, `yaml`, `wide`, `name`).
---`k8s.get(kind[, { name, namespace, context, output, selector, field_selector, all_namespaces }]) -> output | nil, error`
---@param kind any
---@param options? any
---@return any # output | nil, error
function k8s.get(kind, options) end

---One object as a table, or several as a table with `items`.
---`k8s.get_json(kind[, { name, namespace, context, selector, field_selector, all_namespaces }]) -> table | nil, error`
---@param kind any
---@param options? any
---@return any # table | nil, error
function k8s.get_json(kind, options) end

---An object with its events.
---`k8s.describe(kind, name[, { namespace, context }]) -> output | nil, error`
---@param kind any
---@param name any
---@param options? any
---@return any # output | nil, error
function k8s.describe(kind, name, options) end

---What a pod printed. With `follow` it goes on until its `timeout`, or the end of the step.
---`k8s.logs(pod[, { namespace, context, container, follow, tail, since, previous }]) -> output | nil, error`
---@param pod any
---@param options? any
---@return any # output | nil, error
function k8s.logs(pod, options) end

---Runs a list of words, or a line for the shell, in a pod.
---`k8s.exec(pod, command[, { namespace, context, container, stdin, tty }]) -> output | nil, error`
---@param pod any
---@param command any
---@param options? any
---@return any # output | nil, error
function k8s.exec(pod, command, options) end

---Forwards ports (`'8080:80'`, or a list) until its `timeout` or the end of the step. Call it in a goroutine to go on meanwhile.
---`k8s.port_forward(kind, name, ports[, { namespace, context, address }]) -> result, error`
---@param kind any
---@param name any
---@param ports any
---@param options? any
---@return any # result, error
function k8s.port_forward(kind, name, ports, options) end

---Sets how many there are.
---`k8s.scale(kind, name, replicas[, { namespace, context }]) -> boolean, output`
---@param kind any
---@param name any
---@param replicas any
---@param options? any
---@return any # boolean, output
function k8s.scale(kind, name, replicas, options) end

---Looks at or steers a rollout: `status`, `restart`, `undo`, `history`, `pause`, `resume`.
---`k8s.rollout(action, kind, name[, { namespace, context, revision, to_revision, timeout }]) -> boolean, output`
---@param action any
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function k8s.rollout(action, kind, name, options) end

---Changes a part of an object; the patch is a table, or JSON.
---`k8s.patch(kind, name, patch[, { type, namespace, context }]) -> boolean, output`
---@param kind any
---@param name any
---@param patch any
---@param options? any
---@return any # boolean, output
function k8s.patch(kind, name, patch, options) end

---Sets labels, given as a table, or as `'key=value'`.
---`k8s.label(kind, name, labels[, { namespace, context, overwrite }]) -> boolean, output`
---@param kind any
---@param name any
---@param labels any
---@param options? any
---@return any # boolean, output
function k8s.label(kind, name, labels, options) end

---Sets annotations.
---`k8s.annotate(kind, name, annotations[, { namespace, context, overwrite }]) -> boolean, output`
---@param kind any
---@param name any
---@param annotations any
---@param options? any
---@return any # boolean, output
function k8s.annotate(kind, name, annotations, options) end

---Makes a namespace.
---`k8s.create_namespace(name[, { context }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function k8s.create_namespace(name, options) end

---Deletes a namespace with everything in it.
---`k8s.delete_namespace(name[, { context, ignore_not_found }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function k8s.delete_namespace(name, options) end

---Nodes; `items[i].metadata.name` and so on.
---`k8s.get_nodes([{ context, selector }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function k8s.get_nodes(options) end

---Pods, in `items`.
---`k8s.get_pods([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function k8s.get_pods(options) end

---Services, in `items`.
---`k8s.get_services([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function k8s.get_services(options) end

---Deployments, in `items`.
---`k8s.get_deployments([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function k8s.get_deployments(options) end

---Makes a secret; `type` is `generic`, `tls` or `docker-registry`.
---`k8s.create_secret(type, name[, { from_literal, from_file, namespace, context }]) -> boolean, output`
---@param type any
---@param name any
---@param options? any
---@return any # boolean, output
function k8s.create_secret(type, name, options) end

---Makes a config map.
---`k8s.create_configmap(name[, { from_literal, from_file, namespace, context }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function k8s.create_configmap(name, options) end

---Waits until an object is ready; `condition` can name another condition, as `Available` for a deployment.
---`k8s.wait_for_ready(kind, name[, { namespace, context, timeout, condition }]) -> boolean, output`
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function k8s.wait_for_ready(kind, name, options) end

---What nodes or pods use.
---`k8s.top(kind[, { namespace, context, all_namespaces }]) -> output | nil, error`
---@param kind any
---@param options? any
---@return any # output | nil, error
function k8s.top(kind, options) end

---Events, the newest last.
---`k8s.events([{ namespace, context, all_namespaces }]) -> output | nil, error`
---@param options? any
---@return any # output | nil, error
function k8s.events(options) end

---The same as `kubernetes`.
---@class hostler.kubectl
kubectl = {}

---Runs kubectl with a list of words.
---`kubectl.exec_args(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function kubectl.exec_args(args, options) end

---Makes what a file describes so. `-` takes the description from `stdin`.
---`kubectl.apply(file[, { namespace, context, dry_run, server_side, prune, selector, recursive }]) -> boolean, output`
---@param file any
---@param options? any
---@return any # boolean, output
function kubectl.apply(file, options) end

---Deletes an object.
---`kubectl.delete(kind, name[, { namespace, context, force, grace_period, ignore_not_found, wait }]) -> boolean, output`
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function kubectl.delete(kind, name, options) end

---Objects of a kind, as text; `output` is how (`json`, `yaml`, `wide`, `name`).
---`kubectl.get(kind[, { name, namespace, context, output, selector, field_selector, all_namespaces }]) -> output | nil, error`
---@param kind any
---@param options? any
---@return any # output | nil, error
function kubectl.get(kind, options) end

---One object as a table, or several as a table with `items`.
---`kubectl.get_json(kind[, { name, namespace, context, selector, field_selector, all_namespaces }]) -> table | nil, error`
---@param kind any
---@param options? any
---@return any # table | nil, error
function kubectl.get_json(kind, options) end

---An object with its events.
---`kubectl.describe(kind, name[, { namespace, context }]) -> output | nil, error`
---@param kind any
---@param name any
---@param options? any
---@return any # output | nil, error
function kubectl.describe(kind, name, options) end

---What a pod printed. With `follow` it goes on until its `timeout`, or the end of the step.
---`kubectl.logs(pod[, { namespace, context, container, follow, tail, since, previous }]) -> output | nil, error`
---@param pod any
---@param options? any
---@return any # output | nil, error
function kubectl.logs(pod, options) end

---Runs a list of words, or a line for the shell, in a pod.
---`kubectl.exec(pod, command[, { namespace, context, container, stdin, tty }]) -> output | nil, error`
---@param pod any
---@param command any
---@param options? any
---@return any # output | nil, error
function kubectl.exec(pod, command, options) end

---Forwards ports (`'8080:80'`, or a list) until its `timeout` or the end of the step. Call it in a goroutine to go on meanwhile.
---`kubectl.port_forward(kind, name, ports[, { namespace, context, address }]) -> result, error`
---@param kind any
---@param name any
---@param ports any
---@param options? any
---@return any # result, error
function kubectl.port_forward(kind, name, ports, options) end

---Sets how many there are.
---`kubectl.scale(kind, name, replicas[, { namespace, context }]) -> boolean, output`
---@param kind any
---@param name any
---@param replicas any
---@param options? any
---@return any # boolean, output
function kubectl.scale(kind, name, replicas, options) end

---Looks at or steers a rollout: `status`, `restart`, `undo`, `history`, `pause`, `resume`.
---`kubectl.rollout(action, kind, name[, { namespace, context, revision, to_revision, timeout }]) -> boolean, output`
---@param action any
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function kubectl.rollout(action, kind, name, options) end

---Changes a part of an object; the patch is a table, or JSON.
---`kubectl.patch(kind, name, patch[, { type, namespace, context }]) -> boolean, output`
---@param kind any
---@param name any
---@param patch any
---@param options? any
---@return any # boolean, output
function kubectl.patch(kind, name, patch, options) end

---Sets labels, given as a table, or as `'key=value'`.
---`kubectl.label(kind, name, labels[, { namespace, context, overwrite }]) -> boolean, output`
---@param kind any
---@param name any
---@param labels any
---@param options? any
---@return any # boolean, output
function kubectl.label(kind, name, labels, options) end

---Sets annotations.
---`kubectl.annotate(kind, name, annotations[, { namespace, context, overwrite }]) -> boolean, output`
---@param kind any
---@param name any
---@param annotations any
---@param options? any
---@return any # boolean, output
function kubectl.annotate(kind, name, annotations, options) end

---Makes a namespace.
---`kubectl.create_namespace(name[, { context }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function kubectl.create_namespace(name, options) end

---Deletes a namespace with everything in it.
---`kubectl.delete_namespace(name[, { context, ignore_not_found }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function kubectl.delete_namespace(name, options) end

---Nodes; `items[i].metadata.name` and so on.
---`kubectl.get_nodes([{ context, selector }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function kubectl.get_nodes(options) end

---Pods, in `items`.
---`kubectl.get_pods([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function kubectl.get_pods(options) end

---Services, in `items`.
---`kubectl.get_services([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function kubectl.get_services(options) end

---Deployments, in `items`.
---`kubectl.get_deployments([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function kubectl.get_deployments(options) end

---Makes a secret; `type` is `generic`, `tls` or `docker-registry`.
---`kubectl.create_secret(type, name[, { from_literal, from_file, namespace, context }]) -> boolean, output`
---@param type any
---@param name any
---@param options? any
---@return any # boolean, output
function kubectl.create_secret(type, name, options) end

---Makes a config map.
---`kubectl.create_configmap(name[, { from_literal, from_file, namespace, context }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function kubectl.create_configmap(name, options) end

---Waits until an object is ready; `condition` can name another condition, as `Available` for a deployment.
---`kubectl.wait_for_ready(kind, name[, { namespace, context, timeout, condition }]) -> boolean, output`
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function kubectl.wait_for_ready(kind, name, options) end

---What nodes or pods use.
---`kubectl.top(kind[, { namespace, context, all_namespaces }]) -> output | nil, error`
---@param kind any
---@param options? any
---@return any # output | nil, error
function kubectl.top(kind, options) end

---Events, the newest last.
---`kubectl.events([{ namespace, context, all_namespaces }]) -> output | nil, error`
---@param options? any
---@return any # output | nil, error
function kubectl.events(options) end

---Objects of a Kubernetes cluster, with the `kubectl` of the machine and the cluster that its configuration names. What changes something gives `true, output` or `false, error`; what looks gives its output, or nothing and an error.
---@class hostler.kubernetes
kubernetes = {}

---Runs kubectl with a list of words.
---`kubernetes.exec_args(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function kubernetes.exec_args(args, options) end

---Makes what a file describes so. `-` takes the description from `stdin`.
---`kubernetes.apply(file[, { namespace, context, dry_run, server_side, prune, selector, recursive }]) -> boolean, output`
---@param file any
---@param options? any
---@return any # boolean, output
function kubernetes.apply(file, options) end

---Deletes an object.
---`kubernetes.delete(kind, name[, { namespace, context, force, grace_period, ignore_not_found, wait }]) -> boolean, output`
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function kubernetes.delete(kind, name, options) end

---Objects of a kind, as text; `output` is how (`json`, `yaml`, `wide`, `name`).
---`kubernetes.get(kind[, { name, namespace, context, output, selector, field_selector, all_namespaces }]) -> output | nil, error`
---@param kind any
---@param options? any
---@return any # output | nil, error
function kubernetes.get(kind, options) end

---One object as a table, or several as a table with `items`.
---`kubernetes.get_json(kind[, { name, namespace, context, selector, field_selector, all_namespaces }]) -> table | nil, error`
---@param kind any
---@param options? any
---@return any # table | nil, error
function kubernetes.get_json(kind, options) end

---An object with its events.
---`kubernetes.describe(kind, name[, { namespace, context }]) -> output | nil, error`
---@param kind any
---@param name any
---@param options? any
---@return any # output | nil, error
function kubernetes.describe(kind, name, options) end

---What a pod printed. With `follow` it goes on until its `timeout`, or the end of the step.
---`kubernetes.logs(pod[, { namespace, context, container, follow, tail, since, previous }]) -> output | nil, error`
---@param pod any
---@param options? any
---@return any # output | nil, error
function kubernetes.logs(pod, options) end

---Runs a list of words, or a line for the shell, in a pod.
---`kubernetes.exec(pod, command[, { namespace, context, container, stdin, tty }]) -> output | nil, error`
---@param pod any
---@param command any
---@param options? any
---@return any # output | nil, error
function kubernetes.exec(pod, command, options) end

---Forwards ports (`'8080:80'`, or a list) until its `timeout` or the end of the step. Call it in a goroutine to go on meanwhile.
---`kubernetes.port_forward(kind, name, ports[, { namespace, context, address }]) -> result, error`
---@param kind any
---@param name any
---@param ports any
---@param options? any
---@return any # result, error
function kubernetes.port_forward(kind, name, ports, options) end

---Sets how many there are.
---`kubernetes.scale(kind, name, replicas[, { namespace, context }]) -> boolean, output`
---@param kind any
---@param name any
---@param replicas any
---@param options? any
---@return any # boolean, output
function kubernetes.scale(kind, name, replicas, options) end

---Looks at or steers a rollout: `status`, `restart`, `undo`, `history`, `pause`, `resume`.
---`kubernetes.rollout(action, kind, name[, { namespace, context, revision, to_revision, timeout }]) -> boolean, output`
---@param action any
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function kubernetes.rollout(action, kind, name, options) end

---Changes a part of an object; the patch is a table, or JSON.
---`kubernetes.patch(kind, name, patch[, { type, namespace, context }]) -> boolean, output`
---@param kind any
---@param name any
---@param patch any
---@param options? any
---@return any # boolean, output
function kubernetes.patch(kind, name, patch, options) end

---Sets labels, given as a table, or as `'key=value'`.
---`kubernetes.label(kind, name, labels[, { namespace, context, overwrite }]) -> boolean, output`
---@param kind any
---@param name any
---@param labels any
---@param options? any
---@return any # boolean, output
function kubernetes.label(kind, name, labels, options) end

---Sets annotations.
---`kubernetes.annotate(kind, name, annotations[, { namespace, context, overwrite }]) -> boolean, output`
---@param kind any
---@param name any
---@param annotations any
---@param options? any
---@return any # boolean, output
function kubernetes.annotate(kind, name, annotations, options) end

---Makes a namespace.
---`kubernetes.create_namespace(name[, { context }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function kubernetes.create_namespace(name, options) end

---Deletes a namespace with everything in it.
---`kubernetes.delete_namespace(name[, { context, ignore_not_found }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function kubernetes.delete_namespace(name, options) end

---Nodes; `items[i].metadata.name` and so on.
---`kubernetes.get_nodes([{ context, selector }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function kubernetes.get_nodes(options) end

---Pods, in `items`.
---`kubernetes.get_pods([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function kubernetes.get_pods(options) end

---Services, in `items`.
---`kubernetes.get_services([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function kubernetes.get_services(options) end

---Deployments, in `items`.
---`kubernetes.get_deployments([{ namespace, context, selector, all_namespaces }]) -> table | nil, error`
---@param options? any
---@return any # table | nil, error
function kubernetes.get_deployments(options) end

---Makes a secret; `type` is `generic`, `tls` or `docker-registry`.
---`kubernetes.create_secret(type, name[, { from_literal, from_file, namespace, context }]) -> boolean, output`
---@param type any
---@param name any
---@param options? any
---@return any # boolean, output
function kubernetes.create_secret(type, name, options) end

---Makes a config map.
---`kubernetes.create_configmap(name[, { from_literal, from_file, namespace, context }]) -> boolean, output`
---@param name any
---@param options? any
---@return any # boolean, output
function kubernetes.create_configmap(name, options) end

---Waits until an object is ready; `condition` can name another condition, as `Available` for a deployment.
---`kubernetes.wait_for_ready(kind, name[, { namespace, context, timeout, condition }]) -> boolean, output`
---@param kind any
---@param name any
---@param options? any
---@return any # boolean, output
function kubernetes.wait_for_ready(kind, name, options) end

---What nodes or pods use.
---`kubernetes.top(kind[, { namespace, context, all_namespaces }]) -> output | nil, error`
---@param kind any
---@param options? any
---@return any # output | nil, error
function kubernetes.top(kind, options) end

---Events, the newest last.
---`kubernetes.events([{ namespace, context, all_namespaces }]) -> output | nil, error`
---@param options? any
---@return any # output | nil, error
function kubernetes.events(options) end

---Words of a step. They are kept with its output, in the order in which they were said.
---@class hostler.log
log = {}

---Says something.
---`log.info(...)`
---@param ... any
function log.info(...) end

---Says that something is odd.
---`log.warn(...)`
---@param ... any
function log.warn(...) end

---The same as `log.warn`.
---`log.warning(...)`
---@param ... any
function log.warning(...) end

---Says that something is wrong. The step fails only when its body says so.
---`log.error(...)`
---@param ... any
function log.error(...) end

---Says something for people who look closely.
---`log.debug(...)`
---@param ... any
function log.debug(...) end

---Says that something went well.
---`log.success(...)`
---@param ... any
function log.success(...) end

---Says something, as it stands.
---`log.print(...)`
---@param ... any
function log.print(...) end

---Shows a value with everything in it.
---`log.table(value[, title])`
---@param value any
---@param title? any
function log.table(value, title) end

---Volumes of disks: physical volumes, groups and logical volumes, through the programs of LVM. What is there already is not made again.
---@class hostler.lvm
lvm = {}

---Makes a device a physical volume; what is on it already is overwritten only with `force`.
---`lvm.pv_create(device[, force]) -> result, result | nil, error`
---@param device any
---@param force? any
---@return any # result, result | nil, error
function lvm.pv_create(device, force) end

---Makes a device not be a physical volume.
---`lvm.pv_remove(device[, force]) -> result, result | nil, error`
---@param device any
---@param force? any
---@return any # result, result | nil, error
function lvm.pv_remove(device, force) end

---Physical volumes, as a list of tables with the fields of `pvs`.
---`lvm.pv_list() -> volumes | nil, error`
---@return any # volumes | nil, error
function lvm.pv_list() end

---Whether a device is a physical volume.
---`lvm.pv_exists(device) -> boolean | nil, error`
---@param device any
---@return any # boolean | nil, error
function lvm.pv_exists(device) end

---Makes a volume group of devices.
---`lvm.vg_create(name, devices) -> result, result | nil, error`
---@param name any
---@param devices any
---@return any # result, result | nil, error
function lvm.vg_create(name, devices) end

---Removes a volume group; with `force` also one that has volumes.
---`lvm.vg_remove(name[, force]) -> result, result | nil, error`
---@param name any
---@param force? any
---@return any # result, result | nil, error
function lvm.vg_remove(name, force) end

---Adds devices to a volume group.
---`lvm.vg_extend(name, devices) -> result, result | nil, error`
---@param name any
---@param devices any
---@return any # result, result | nil, error
function lvm.vg_extend(name, devices) end

---Takes devices out of a volume group.
---`lvm.vg_reduce(name, devices) -> result, result | nil, error`
---@param name any
---@param devices any
---@return any # result, result | nil, error
function lvm.vg_reduce(name, devices) end

---Volume groups, as a list of tables with the fields of `vgs`.
---`lvm.vg_list() -> groups | nil, error`
---@return any # groups | nil, error
function lvm.vg_list() end

---Whether there is such a volume group.
---`lvm.vg_exists(name) -> boolean | nil, error`
---@param name any
---@return any # boolean | nil, error
function lvm.vg_exists(name) end

---Makes a logical volume, such as `10G` or `100%FREE`.
---`lvm.lv_create(name, vg, size) -> result, result | nil, error`
---@param name any
---@param vg any
---@param size any
---@return any # result, result | nil, error
function lvm.lv_create(name, vg, size) end

---Removes a logical volume with all that is on it; one that is in use only with `force`.
---`lvm.lv_remove(path[, force]) -> result, result | nil, error`
---@param path any
---@param force? any
---@return any # result, result | nil, error
function lvm.lv_remove(path, force) end

---Makes a logical volume larger, to a size or by one (`+5G`).
---`lvm.lv_extend(path, size) -> result, result | nil, error`
---@param path any
---@param size any
---@return any # result, result | nil, error
function lvm.lv_extend(path, size) end

---Makes a logical volume smaller. What is on it must be made smaller before; without `force` it is refused where that cannot be known.
---`lvm.lv_reduce(path, size[, force]) -> result, result | nil, error`
---@param path any
---@param size any
---@param force? any
---@return any # result, result | nil, error
function lvm.lv_reduce(path, size, force) end

---Gives a logical volume another size, with the file system on it.
---`lvm.lv_resize(path, size) -> result, result | nil, error`
---@param path any
---@param size any
---@return any # result, result | nil, error
function lvm.lv_resize(path, size) end

---Logical volumes, as a list of tables with the fields of `lvs`.
---`lvm.lv_list() -> volumes | nil, error`
---@return any # volumes | nil, error
function lvm.lv_list() end

---Whether there is such a logical volume.
---`lvm.lv_exists(path) -> boolean | nil, error`
---@param path any
---@return any # boolean | nil, error
function lvm.lv_exists(path) end

---Makes a snapshot of a logical volume.
---`lvm.snapshot_create(lv, name, size) -> result, result | nil, error`
---@param lv any
---@param name any
---@param size any
---@return any # result, result | nil, error
function lvm.snapshot_create(lv, name, size) end

---The same as `lvm.snapshot_create`.
---`lvm.lv_snapshot(lv, name, size) -> result, result | nil, error`
---@param lv any
---@param name any
---@param size any
---@return any # result, result | nil, error
function lvm.lv_snapshot(lv, name, size) end

---Makes a volume be as its snapshot was, which goes by it.
---`lvm.snapshot_merge(path) -> result, result | nil, error`
---@param path any
---@return any # result, result | nil, error
function lvm.snapshot_merge(path) end

---Makes a pool for thin volumes.
---`lvm.thin_pool_create(name, vg, size) -> result, result | nil, error`
---@param name any
---@param vg any
---@param size any
---@return any # result, result | nil, error
function lvm.thin_pool_create(name, vg, size) end

---Makes a thin volume in a pool, written `vg/pool`.
---`lvm.thin_lv_create(name, pool, size) -> result, result | nil, error`
---@param name any
---@param pool any
---@param size any
---@return any # result, result | nil, error
function lvm.thin_lv_create(name, pool, size) end

---Looks for physical volumes anew.
---`lvm.scan() -> result, result | nil, error`
---@return any # result, result | nil, error
function lvm.scan() end

---A logical volume, as a table with the fields of `lvs`.
---`lvm.info(path) -> volume | nil, error`
---@param path any
---@return any # volume | nil, error
function lvm.info(path) end

---The `math` of Lua, with everything it has, and some more. `math.e` and `math.phi` are numbers beside `math.pi`. Lists that are empty have no mean and the like: the answer is nil.
---@class hostler.math
math = {}

---Without its sign.
---`math.abs(number) -> number`
---@param number any
---@return any # number
function math.abs(number) end

---The next whole number above.
---`math.ceil(number) -> number`
---@param number any
---@return any # number
function math.ceil(number) end

---The next whole number below.
---`math.floor(number) -> number`
---@param number any
---@return any # number
function math.floor(number) end

---The largest.
---`math.max(number, ...) -> number`
---@param number any
---@param ... any
---@return any # number
function math.max(number, ...) end

---The smallest.
---`math.min(number, ...) -> number`
---@param number any
---@param ... any
---@return any # number
function math.min(number, ...) end

---A power.
---`math.pow(number, exponent) -> number`
---@param number any
---@param exponent any
---@return any # number
function math.pow(number, exponent) end

---The square root.
---`math.sqrt(number) -> number`
---@param number any
---@return any # number
function math.sqrt(number) end

---A power of e.
---`math.exp(number) -> number`
---@param number any
---@return any # number
function math.exp(number) end

---The natural logarithm, or that to a base.
---`math.log(number[, base]) -> number`
---@param number any
---@param base? any
---@return any # number
function math.log(number, base) end

---The logarithm to base 10.
---`math.log10(number) -> number`
---@param number any
---@return any # number
function math.log10(number) end

---The sine.
---`math.sin(radians) -> number`
---@param radians any
---@return any # number
function math.sin(radians) end

---The cosine.
---`math.cos(radians) -> number`
---@param radians any
---@return any # number
function math.cos(radians) end

---The tangent.
---`math.tan(radians) -> number`
---@param radians any
---@return any # number
function math.tan(radians) end

---The angle of a sine.
---`math.asin(number) -> number`
---@param number any
---@return any # number
function math.asin(number) end

---The angle of a cosine.
---`math.acos(number) -> number`
---@param number any
---@return any # number
function math.acos(number) end

---The angle of a tangent.
---`math.atan(number) -> number`
---@param number any
---@return any # number
function math.atan(number) end

---The angle of a point.
---`math.atan2(y, x) -> number`
---@param y any
---@param x any
---@return any # number
function math.atan2(y, x) end

---The hyperbolic sine.
---`math.sinh(number) -> number`
---@param number any
---@return any # number
function math.sinh(number) end

---The hyperbolic cosine.
---`math.cosh(number) -> number`
---@param number any
---@return any # number
function math.cosh(number) end

---The hyperbolic tangent.
---`math.tanh(number) -> number`
---@param number any
---@return any # number
function math.tanh(number) end

---A number from 0 up to 1, or a whole one up to the bound or between two.
---`math.random([[low, ]high]) -> number`
---@param low? any
---@param high? any
---@return any # number
function math.random(low, high) end

---The nearest whole number; halves go away from zero.
---`math.round(number) -> number`
---@param number any
---@return any # number
function math.round(number) end

---The number, or the bound it is beyond.
---`math.clamp(number, low, high) -> number`
---@param number any
---@param low any
---@param high any
---@return any # number
function math.clamp(number, low, high) end

---The cube root.
---`math.cbrt(number) -> number`
---@param number any
---@return any # number
function math.cbrt(number) end

---The logarithm to base 2.
---`math.log2(number) -> number`
---@param number any
---@return any # number
function math.log2(number) end

---A whole number between the two, both included.
---`math.random_int(low, high) -> number`
---@param low any
---@param high any
---@return any # number
function math.random_int(low, high) end

---A number from the first up to the second.
---`math.random_float(low, high) -> number`
---@param low any
---@param high any
---@return any # number
function math.random_float(low, high) end

---From here on the same numbers come for the same seed; without one, others each time.
---`math.seed([number])`
---@param number? any
function math.seed(number) end

---All of a list together.
---`math.sum(list) -> number`
---@param list any
---@return any # number
function math.sum(list) end

---The mean of a list.
---`math.mean(list) -> number`
---@param list any
---@return any # number
function math.mean(list) end

---What lies in the middle of a list.
---`math.median(list) -> number`
---@param list any
---@return any # number
function math.median(list) end

---What is most often in a list; the smallest, where several are.
---`math.mode(list) -> number`
---@param list any
---@return any # number
function math.mode(list) end

---The variance of a list, as of all there is (not of a sample).
---`math.variance(list) -> number`
---@param list any
---@return any # number
function math.variance(list) end

---The standard deviation of a list, as of all there is (not of a sample).
---`math.std_dev(list) -> number`
---@param list any
---@return any # number
function math.std_dev(list) end

---How it is with the machine where the step runs, and numbers of one's own. Those are kept while the workflow is carried out there; `observability.export_prometheus` and `metrics.list_custom` give them out.
---@class hostler.metrics
metrics = {}

---How busy the processors are, over a tenth of a second.
---`metrics.system_cpu() -> percent | nil, error`
---@return any # percent | nil, error
function metrics.system_cpu() end

---How much of the memory is used.
---`metrics.system_memory() -> { used_mb, total_mb, available_mb, percent } | nil, error`
---@return any # { used_mb, total_mb, available_mb, percent } | nil, error
function metrics.system_memory() end

---How full the disk is that a path lies on.
---`metrics.system_disk([path = "/"]) -> { used_gb, total_gb, free_gb, percent } | nil, error`
---@param path? any
---@return any # { used_gb, total_gb, free_gb, percent } | nil, error
function metrics.system_disk(path) end

---What runs this step.
---`metrics.runtime_info() -> { goroutines, memory_mb, cpus, pid, os, arch, version }`
---@return any # { goroutines, memory_mb, cpus, pid, os, arch, version }
function metrics.runtime_info() end

---Records a number that goes up and down.
---`metrics.gauge(name, value[, tags]) -> true`
---@param name any
---@param value any
---@param tags? any
---@return any # true
function metrics.gauge(name, value, tags) end

---Counts on, and gives the new number.
---`metrics.counter(name[, more = 1[, tags]]) -> number`
---@param name any
---@param more? any
---@param tags? any
---@return any # number
function metrics.counter(name, more, tags) end

---Records one of many numbers.
---`metrics.histogram(name, value[, tags]) -> true`
---@param name any
---@param value any
---@param tags? any
---@return any # true
function metrics.histogram(name, value, tags) end

---Calls a function, and records how long it took as a histogram.
---`metrics.timer(name, fn[, tags]) -> milliseconds, values...`
---@param name any
---@param fn any
---@param tags? any
---@return any # milliseconds, values...
function metrics.timer(name, fn, tags) end

---What was recorded under a name. A histogram has `count`, `sum`, `min`, `max` and `avg`.
---`metrics.get_custom(name) -> { name, type, tags, value, ... } | nil`
---@param name any
---@return any # { name, type, tags, value, ... } | nil
function metrics.get_custom(name) end

---Everything that was recorded.
---`metrics.list_custom() -> list`
---@return any # list
function metrics.list_custom() end

---Says that a number is not as it should be, in the output of the step.
---`metrics.alert(name, { level = "warning", message, threshold, value }) -> true`
---@param name any
---@param options any
---@return any # true
function metrics.alert(name, options) end

---How it is with the machine: `healthy`, `warning` (from 80 percent) or `critical` (from 95); each part has `status` and `percent`.
---`metrics.health_status() -> { overall, cpu, memory, disk, timestamp } | nil, error`
---@return any # { overall, cpu, memory, disk, timestamp } | nil, error
function metrics.health_status() end

---Requests as older files make them, with the bounds of `http`, and downloads.
---@class hostler.net
net = {}

---Asks for something. Each header is a list of its values.
---`net.http_get(url[, headers]) -> body, status, headers, error`
---@param url any
---@param headers? any
---@return any # body, status, headers, error
function net.http_get(url, headers) end

---Sends something.
---`net.http_post(url, body[, headers]) -> body, status, headers, error`
---@param url any
---@param body any
---@param headers? any
---@return any # body, status, headers, error
function net.http_post(url, body, headers) end

---Puts an answer into a file, of any size, in an hour at most if nothing else is said. The file is there when all of it is; what was there before stays until then.
---`net.download(url, path[, { headers, timeout }]) -> nil | error`
---@param url any
---@param path any
---@param options? any
---@return any # nil | error
function net.download(url, path, options) end

---What can be reached from the machine where the step runs, and how. `ping`, `traceroute` and `whois` use the programs of these names, and say so where there are none.
---@class hostler.network
network = {}

---Pings a host four times or so often. `loss` is in percent, times are in milliseconds.
---`network.ping(host[, { count, timeout }]) -> { success, sent, received, loss, min, avg, max, output } | nil, error`
---@param host any
---@param options? any
---@return any # { success, sent, received, loss, min, avg, max, output } | nil, error
function network.ping(host, options) end

---Whether a TCP port takes connections; 5 seconds are waited if nothing else is said.
---`network.port_check(host, port[, timeout]) -> boolean, error`
---@param host any
---@param port any
---@param timeout? any
---@return any # boolean, error
function network.port_check(host, port, timeout) end

---Which TCP ports of a list take connections; 2 seconds are waited for each, for many at a time.
---`network.port_scan(host, ports[, timeout]) -> { open, closed, total_scanned } | nil, error`
---@param host any
---@param ports any
---@param timeout? any
---@return any # { open, closed, total_scanned } | nil, error
function network.port_scan(host, ports, timeout) end

---Connects, sends what is given, and takes what comes: until the other side closes, falls silent for a second, or the time is over.
---`network.telnet(host, port[, { send, timeout }]) -> { connected, output } | nil, error`
---@param host any
---@param port any
---@param options? any
---@return any # { connected, output } | nil, error
function network.telnet(host, port, options) end

---How long connections to a TCP port take, in milliseconds; port 443 and four times if nothing else is said.
---`network.latency_test(host[, { port, count, timeout }]) -> { success, count, lost, min, avg, max } | nil, error`
---@param host any
---@param options? any
---@return any # { success, count, lost, min, avg, max } | nil, error
function network.latency_test(host, options) end

---How fast the answer to a request comes, in megabits a second; its first 64 MiB are taken.
---`network.bandwidth_test(url[, { timeout }]) -> { bytes, seconds, mbps } | nil, error`
---@param url any
---@param options? any
---@return any # { bytes, seconds, mbps } | nil, error
function network.bandwidth_test(url, options) end

---What a name stands for: texts for `A` (which is meant without a type), `AAAA`, `CNAME`, `NS`, `TXT` and `PTR`, tables for `MX` (`host`, `priority`) and `SRV` (`host`, `port`, `priority`, `weight`). Addresses are found as the machine finds them, the rest by asking its name server, or the one that is given.
---`network.dns_lookup(name[, type[, { server, timeout }]]) -> list | nil, error`
---@param name any
---@param type? any
---@param options? any
---@return any # list | nil, error
function network.dns_lookup(name, type, options) end

---The names of an address, as the machine knows them.
---`network.reverse_dns(address) -> { name } | nil, error`
---@param address any
---@return any # { name } | nil, error
function network.reverse_dns(address) end

---Who takes mail for a domain, the preferred first.
---`network.mx_lookup(domain[, { server, timeout }]) -> { { host, priority } } | nil, error`
---@param domain any
---@param options? any
---@return any # { { host, priority } } | nil, error
function network.mx_lookup(domain, options) end

---The network interfaces of the machine.
---`network.interfaces() -> { { name, mac, mtu, is_up, is_loopback, addresses } } | nil, error`
---@return any # { { name, mac, mtu, is_up, is_loopback, addresses } } | nil, error
function network.interfaces() end

---The address with which the machine reaches others.
---`network.local_ip() -> address | nil, error`
---@return any # address | nil, error
function network.local_ip() end

---The address with which the machine is seen by a service that answers with it. Which one is yours to choose: here, or for all steps in HOSTLER_PUBLIC_IP_URL of their environment.
---`network.public_ip([url][, { timeout }]) -> address | nil, error`
---@param url? any
---@param options? any
---@return any # address | nil, error
function network.public_ip(url, options) end

---The certificate of a server and whether it is to be believed: `valid`, or `error` says why not. Moments are seconds since 1970.
---`network.ssl_check(host[, port[, timeout]]) -> { valid, error, subject, issuer, names, serial, not_before, not_after, days_left, protocol } | nil, error`
---@param host any
---@param port? any
---@param timeout? any
---@return any # { valid, error, subject, issuer, names, serial, not_before, not_after, days_left, protocol } | nil, error
function network.ssl_check(host, port, timeout) end

---The way to a host: for every hop its `number`, `address` and `times` in milliseconds.
---`network.traceroute(host[, { hops, timeout }]) -> { output, hops } | nil, error`
---@param host any
---@param options? any
---@return any # { output, hops } | nil, error
function network.traceroute(host, options) end

---What is registered about a domain or an address.
---`network.whois(name) -> text | nil, error`
---@param name any
---@return any # text | nil, error
function network.whois(name) end

---Directories that other machines mount, in `/etc/exports`. The server reads the file again where it changed.
---@class hostler.nfs
nfs = {}

---Makes a directory be exported to clients: a name, an address or a network, or a list of them.
---`nfs.export{ path, clients, options } | (path, clients, options) -> result, result | nil, error`
---@param options any
---@param clients any
---@return any # result, result | nil, error
function nfs.export(options, clients) end

---Makes a directory not be exported.
---`nfs.unexport(path) -> result, result | nil, error`
---@param path any
---@return any # result, result | nil, error
function nfs.unexport(path) end

---What the file of exports says.
---`nfs.list_exports() -> [{ path, clients }] | nil, error`
---@return any # [{ path, clients }] | nil, error
function nfs.list_exports() end

---Whether a directory is in the file of exports.
---`nfs.is_exported(path) -> boolean | nil, error`
---@param path any
---@return any # boolean | nil, error
function nfs.is_exported(path) end

---Makes the server read the file of exports.
---`nfs.reload() -> result, result | nil, error`
---@return any # result, result | nil, error
function nfs.reload() end

---Machines of NixOS. What is said goes into `/etc/nixos/hostler.json`, which the configuration imports through `hostler.nix`; `nixos.rebuild` makes the machine so. An option that no function here is for is set with `nixos.set_option`.
---@class hostler.nixos
nixos = {}

---Says any option: a table becomes a set or a list, nothing takes it away.
---`nixos.set_option{ option, value } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.set_option(options) end

---The name of the machine.
---`nixos.set_hostname{ hostname } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.set_hostname(options) end

---Its time zone.
---`nixos.set_timezone{ timezone } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.set_timezone(options) end

---Its language.
---`nixos.set_locale{ locale } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.set_locale(options) end

---Several of these in one.
---`nixos.configure_system{ timezone, locale, hostname, console, state_version } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_system(options) end

---A package for everybody; `kitty.terminfo` is one within another.
---`nixos.add_package{ package } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_package(options) end

---Does not ask for that package any more.
---`nixos.remove_package{ package } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.remove_package(options) end

---Packages and variables for everybody, beside those that were said before.
---`nixos.configure_environment{ packages, variables } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_environment(options) end

---A variable for everybody.
---`nixos.add_environment_variable{ name, value } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_environment_variable(options) end

---Takes it back.
---`nixos.remove_environment_variable{ name } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.remove_environment_variable(options) end

---Wants a service: `services.NAME.enable`.
---`nixos.enable_service{ service } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.enable_service(options) end

---Does not want it.
---`nixos.disable_service{ service } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.disable_service(options) end

---A service with options of it: each key of `settings` is one below `services.NAME`.
---`nixos.configure_service{ service, enable, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_service(options) end

---A user; `settings` are further options of it.
---`nixos.add_user{ username, description, shell, groups, home, uid, hashed_password, ssh_keys, packages, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_user(options) end

---The same as `add_user`.
---`nixos.configure_user{ username, ... } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_user(options) end

---Takes back everything that was said of a user.
---`nixos.remove_user{ username } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.remove_user(options) end

---Lets whoever has a key in as a user.
---`nixos.add_ssh_key{ username, key } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_ssh_key(options) end

---Does not let it in any more.
---`nixos.remove_ssh_key{ username, key } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.remove_ssh_key(options) end

---Puts a user into a group.
---`nixos.add_user_to_group{ username, group } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_user_to_group(options) end

---Takes a user out of a group.
---`nixos.remove_user_from_group{ username, group } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.remove_user_from_group(options) end

---Wants the firewall, or not.
---`nixos.enable_firewall([enable]) -> result, result | nil, error`
---@param enable? any
---@return any # result, result | nil, error
function nixos.enable_firewall(enable) end

---The firewall with all ports that are open.
---`nixos.configure_firewall{ enable, tcp_ports, udp_ports } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_firewall(options) end

---Opens a port, of TCP unless told otherwise.
---`nixos.add_firewall_port{ port, protocol } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_firewall_port(options) end

---The same as `add_firewall_port`.
---`nixos.add_firewall_rule{ port, protocol } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_firewall_rule(options) end

---Closes a port again.
---`nixos.remove_firewall_rule{ port, protocol } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.remove_firewall_rule(options) end

---How it is on the network.
---`nixos.configure_networking{ hostname, enable_network_manager, nameservers, firewall } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_networking(options) end

---Docker, and who may use it.
---`nixos.configure_docker{ enable, enable_on_boot, users } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_docker(options) end

---What is mounted where.
---`nixos.configure_filesystem{ mount_point, device, fs_type, options } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_filesystem(options) end

---Takes it back.
---`nixos.remove_filesystem{ mount_point } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.remove_filesystem(options) end

---Lets Nix read flakes, or not.
---`nixos.enable_flakes([enable]) -> result, result | nil, error`
---@param enable? any
---@return any # result, result | nil, error
function nixos.enable_flakes(enable) end

---Gets what is built already from another place.
---`nixos.add_binary_cache{ url, key } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_binary_cache(options) end

---Lets the configuration import a file.
---`nixos.add_import{ path } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_import(options) end

---Does not import it any more.
---`nixos.remove_import{ path } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.remove_import(options) end

---What the machine is started with: `systemd-boot`, or `grub` with the disk that it is on.
---`nixos.set_bootloader{ bootloader, device, timeout } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.set_bootloader(options) end

---A desktop: gnome, plasma, xfce, mate, cinnamon, lxqt, pantheon or budgie.
---`nixos.configure_desktop{ desktop } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_desktop(options) end

---What people log in at: gdm, lightdm, sddm or ly.
---`nixos.configure_display_manager{ manager, auto_login_user } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_display_manager(options) end

---Sound: `pipewire` where nothing is said, or `pulseaudio`.
---`nixos.configure_audio{ server, alsa, pulse, jack } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_audio(options) end

---Where memory is put that is not needed now; a file is made with `size` megabytes.
---`nixos.configure_swap{ device, size, priority } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_swap(options) end

---What systemd mounts where.
---`nixos.create_systemd_mount{ what, where, type, options, wanted_by } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.create_systemd_mount(options) end

---An authority to believe, in a file or as its text.
---`nixos.add_certificate{ path | certificate } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.add_certificate(options) end

---Makes a virtual machine with `virt-install`, unless there is one of that name. `memory` is in megabytes, `disk` as `size=20` in gigabytes.
---`nixos.create_vm{ name, memory, cpus, disk, iso, os, network } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.create_vm(options) end

---A snapshot of a dataset of ZFS, unless there is one of that name.
---`nixos.create_snapshot{ dataset, name } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.create_snapshot(options) end

---Copies a file of Nix into `/etc/nixos` and lets the configuration import it.
---`nixos.import_configuration{ path, name } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.import_configuration(options) end

---Writes everything that was said here as one file of Nix that another machine can import.
---`nixos.export_module{ path } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.export_module(options) end

---Copies `configuration.nix`, to `configuration.nix.backup` unless told otherwise.
---`nixos.backup_config([{ backup_path }]) -> result, result | nil, error`
---@param options? any
---@return any # result, result | nil, error
function nixos.backup_config(options) end

---Makes the machine what is said: `switch` (now and at boot), `boot`, `test` (until the next boot), `build`, `dry-build` or `dry-activate`.
---`nixos.rebuild([{ mode, upgrade }]) -> result, result | nil, error`
---@param options? any
---@return any # result, result | nil, error
function nixos.rebuild(options) end

---Goes back to the generation before.
---`nixos.rollback() -> result, result | nil, error`
---@return any # result, result | nil, error
function nixos.rollback() end

---Goes to a generation by its number.
---`nixos.switch_generation{ generation } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.switch_generation(options) end

---Deletes generations that are older (`30d`), or all but the current one.
---`nixos.delete_generations([{ older_than }]) -> result, result | nil, error`
---@param options? any
---@return any # result, result | nil, error
function nixos.delete_generations(options) end

---Removes what nothing needs any more; with `older_than` old generations go, too.
---`nixos.collect_garbage([{ older_than }]) -> result, result | nil, error`
---@param options? any
---@return any # result, result | nil, error
function nixos.collect_garbage(options) end

---Keeps files that are the same only once.
---`nixos.optimize_store() -> result, result | nil, error`
---@return any # result, result | nil, error
function nixos.optimize_store() end

---Fetches channels anew.
---`nixos.update_channels() -> result, result | nil, error`
---@return any # result, result | nil, error
function nixos.update_channels() end

---Channels, one a line.
---`nixos.list_channels() -> true, text | nil, error`
---@return any # true, text | nil, error
function nixos.list_channels() end

---Generations of the machine, one a line.
---`nixos.list_generations() -> true, text | nil, error`
---@return any # true, text | nil, error
function nixos.list_generations() end

---Which one it is at.
---`nixos.get_current_generation() -> true, number | nil, error`
---@return any # true, number | nil, error
function nixos.get_current_generation() end

---Whether the configuration can be built, and what it says; nothing is built.
---`nixos.validate_config() -> boolean, text | nil, error`
---@return any # boolean, text | nil, error
function nixos.validate_config() end

---Builds it and says what would change; nothing does.
---`nixos.test_config() -> boolean, text | nil, error`
---@return any # boolean, text | nil, error
function nixos.test_config() end

---The text of `configuration.nix`.
---`nixos.get_config() -> true, text | nil, error`
---@return any # true, text | nil, error
function nixos.get_config() end

---What was said of an option here.
---`nixos.get_config_value{ option } -> true, value | nil, error`
---@param options any
---@return any # true, value | nil, error
function nixos.get_config_value(options) end

---Whether something was said of a user here.
---`nixos.user_exists{ username } -> boolean | nil, error`
---@param options any
---@return any # boolean | nil, error
function nixos.user_exists(options) end

---Users that were said here, one a line.
---`nixos.list_users() -> true, text | nil, error`
---@return any # true, text | nil, error
function nixos.list_users() end

---Packages that were said here, one a line.
---`nixos.list_packages() -> true, text | nil, error`
---@return any # true, text | nil, error
function nixos.list_packages() end

---Services that were said here, one a line.
---`nixos.list_services() -> true, text | nil, error`
---@return any # true, text | nil, error
function nixos.list_services() end

---ZFS: pools that are imported at boot, and what is done for them regularly.
---`nixos.configure_zfs{ pools, host_id, auto_scrub, auto_snapshot, trim } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_zfs(options) end

---A container of NixOS; `config` are the options of what runs in it.
---`nixos.configure_container{ name, auto_start, private_network, host_address, local_address, ephemeral, bind_mounts, forward_ports, config, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_container(options) end

---A VLAN on an interface; `addresses` are of the form `{ address, prefixLength }`.
---`nixos.configure_vlan{ name, id, interface, addresses, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_vlan(options) end

---A bridge of interfaces.
---`nixos.configure_bridge{ name, interfaces, addresses, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_bridge(options) end

---An interface of WireGuard; the key stays in a file of its own.
---`nixos.configure_vpn{ name, ips, listen_port, private_key_file, peers, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_vpn(options) end

---What keeps people from doing what they should not.
---`nixos.configure_security{ wheel_needs_password, polkit, apparmor, auditd, protect_kernel_image, lock_kernel_modules, fail2ban, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_security(options) end

---How the machine comes up.
---`nixos.configure_boot{ timeout, kernel_params, kernel_modules, initrd_modules, clean_tmp, supported_filesystems, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_boot(options) end

---What the machine has, and needs something for.
---`nixos.configure_hardware{ bluetooth, firmware, graphics, intel_microcode, amd_microcode, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_hardware(options) end

---The kernel: which, with which modules, and its settings.
---`nixos.configure_kernel{ package, params, modules, blacklist, sysctl, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_kernel(options) end

---Virtual machines with libvirt, and who may use them.
---`nixos.configure_libvirt{ enable, on_boot, on_shutdown, users, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_libvirt(options) end

---A copy that Borg makes regularly.
---`nixos.configure_backup{ name, paths, repo, encryption, start_at, compression, exclude, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_backup(options) end

---Prometheus, what it asks, and Grafana beside it.
---`nixos.configure_monitoring{ enable, port, retention, scrape_configs, node_exporter, grafana, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_monitoring(options) end

---What the journal keeps; `config` are lines of its configuration.
---`nixos.configure_journald{ storage, rate_limit_burst, rate_limit_interval, config, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_journald(options) end

---Which files are rotated, and how.
---`nixos.configure_logrotate{ enable, files, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_logrotate(options) end

---The X server, its keyboard and drivers.
---`nixos.configure_xserver{ enable, layout, variant, video_drivers, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_xserver(options) end

---PostgreSQL, with databases and users that are to be there.
---`nixos.configure_postgresql{ enable, package, port, databases, users, authentication, enable_tcp, data_dir, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_postgresql(options) end

---MySQL or MariaDB: `package` says which, and has to be said once.
---`nixos.configure_mysql{ enable, package, databases, users, port, data_dir, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_mysql(options) end

---A server of Redis, `main` where no name is told.
---`nixos.configure_redis{ name, enable, port, bind, password_file, databases, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_redis(options) end

---MongoDB.
---`nixos.configure_mongodb{ enable, package, bind_ip, auth, db_path, replica_set, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_mongodb(options) end

---Apache's web server and its hosts.
---`nixos.configure_apache{ enable, admin, virtual_hosts, modules, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_apache(options) end

---Caddy and its hosts.
---`nixos.configure_caddy{ enable, email, virtual_hosts, config, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_caddy(options) end

---Postfix, and Dovecot beside it.
---`nixos.configure_mail_server{ enable, hostname, domain, networks, relay_host, dovecot, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_mail_server(options) end

---A name server (BIND) and its zones.
---`nixos.configure_dns{ enable, forwarders, listen_on, cache_networks, zones, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_dns(options) end

---A server of DHCP (Kea) and its subnets.
---`nixos.configure_dhcp{ enable, interfaces, subnets, lease_time, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_dhcp(options) end

---What is shared with NFS, as lines of `exports`.
---`nixos.configure_nfs{ enable, exports, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_nfs(options) end

---What is shared with Samba.
---`nixos.configure_samba{ enable, open_firewall, workgroup, shares, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_samba(options) end

---Accounts from a directory.
---`nixos.configure_ldap{ enable, server, base, bind_dn, tls, daemon, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_ldap(options) end

---Certificates from an authority that asks the machine itself; its terms are yours to accept.
---`nixos.configure_acme{ accept_terms, email, server, dns_provider, certs, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_acme(options) end

---HAProxy, by the lines of its configuration.
---`nixos.configure_haproxy{ enable, config, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_haproxy(options) end

---Traefik: what it is started with, and what it routes.
---`nixos.configure_traefik{ enable, static_config, dynamic_config, group, data_dir, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_traefik(options) end

---A proxy (Squid).
---`nixos.configure_squid{ enable, port, address, config, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_squid(options) end

---A connection of OpenVPN, by the lines of its configuration.
---`nixos.configure_openvpn{ name, config, auto_start, up, down, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_openvpn(options) end

---A node of k3s.
---`nixos.configure_k3s{ enable, role, token_file, server, cluster_init, flags, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_k3s(options) end

---A runner of GitLab; its token stays in a file.
---`nixos.configure_gitlab_runner{ name, enable, concurrent, token_file, executor, docker_image, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_gitlab_runner(options) end

---How fast, and at what cost.
---`nixos.configure_performance{ governor, zram, zram_percent, swappiness, irqbalance, thermald } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.configure_performance(options) end

---A service of systemd. Name what wants it, such as `multi-user.target`, where it is to start at boot.
---`nixos.create_systemd_service{ name, description, after, wants, requires, wanted_by, environment, exec_start, exec_stop, exec_reload, type, user, group, working_directory, restart, restart_sec, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.create_systemd_service(options) end

---When a unit of systemd is started.
---`nixos.create_systemd_timer{ name, description, wanted_by, on_calendar, on_boot_sec, on_unit_active_sec, persistent, unit, settings } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function nixos.create_systemd_timer(options) end

---The same as `notifications`.
---@class hostler.notification
notification = {}

---Messages to people. Every function gives true, or false and what went wrong; `notifications.slack{...}` is the same as `notifications.slack.send{...}`. In check mode nothing is sent.
---@class hostler.notifications
notifications = {}

---The same as `notifications`.
---@class hostler.notify
notify = {}

---Traces of what a workflow does, and its numbers. They are kept in memory while the workflow is carried out, the last 1000 traces of them, and given out as text. Numbers are the same as those of `metrics`.
---@class hostler.observability
observability = {}

---Begins a trace.
---`observability.start_trace(name[, tags]) -> trace_id`
---@param name any
---@param tags? any
---@return any # trace_id
function observability.start_trace(name, tags) end

---Ends a trace, and the spans of it that are still open.
---`observability.end_trace(trace_id[, status = "ok"]) -> milliseconds | nil, error`
---@param trace_id any
---@param status? any
---@return any # milliseconds | nil, error
function observability.end_trace(trace_id, status) end

---A trace with everything in it.
---`observability.get_trace(trace_id) -> { id, name, status, tags, start_time, end_time, duration_ms, spans } | nil`
---@param trace_id any
---@return any # { id, name, status, tags, start_time, end_time, duration_ms, spans } | nil
function observability.get_trace(trace_id) end

---All traces, or those with a status.
---`observability.list_traces([status]) -> traces`
---@param status? any
---@return any # traces
function observability.list_traces(status) end

---Begins a span in a trace, or below another span of it.
---`observability.start_span(trace_id, name[, parent_span_id[, tags]]) -> span_id | nil, error`
---@param trace_id any
---@param name any
---@param parent_span_id? any
---@param tags? any
---@return any # span_id | nil, error
function observability.start_span(trace_id, name, parent_span_id, tags) end

---Ends a span.
---`observability.end_span(span_id[, status = "ok"]) -> milliseconds | nil, error`
---@param span_id any
---@param status? any
---@return any # milliseconds | nil, error
function observability.end_span(span_id, status) end

---Says that something happened within a span.
---`observability.add_span_event(span_id, name[, attributes]) -> true | false, error`
---@param span_id any
---@param name any
---@param attributes? any
---@return any # true | false, error
function observability.add_span_event(span_id, name, attributes) end

---Says something about a span.
---`observability.add_span_tag(span_id, name, value) -> true | false, error`
---@param span_id any
---@param name any
---@param value any
---@return any # true | false, error
function observability.add_span_tag(span_id, name, value) end

---The same as `metrics.gauge`.
---`observability.gauge(name, value[, tags]) -> true`
---@param name any
---@param value any
---@param tags? any
---@return any # true
function observability.gauge(name, value, tags) end

---The same as `metrics.counter`.
---`observability.counter(name[, more = 1[, tags]]) -> number`
---@param name any
---@param more? any
---@param tags? any
---@return any # number
function observability.counter(name, more, tags) end

---The same as `metrics.histogram`.
---`observability.histogram(name, value[, tags]) -> true`
---@param name any
---@param value any
---@param tags? any
---@return any # true
function observability.histogram(name, value, tags) end

---Begins to measure.
---`observability.timer_start(name[, tags]) -> timer_id`
---@param name any
---@param tags? any
---@return any # timer_id
function observability.timer_start(name, tags) end

---Ends to measure, and records it as a histogram of the name.
---`observability.timer_end(timer_id) -> milliseconds | nil, error`
---@param timer_id any
---@return any # milliseconds | nil, error
function observability.timer_end(timer_id) end

---One trace, or all traces and numbers, as JSON.
---`observability.export_json([trace_id]) -> text`
---@param trace_id? any
---@return any # text
function observability.export_json(trace_id) end

---Traces in the JSON that Jaeger loads.
---`observability.export_jaeger([trace_id]) -> text`
---@param trace_id? any
---@return any # text
function observability.export_jaeger(trace_id) end

---The numbers in the text that Prometheus reads.
---`observability.export_prometheus() -> text`
---@return any # text
function observability.export_prometheus() end

---The same as `metrics.health_status`.
---`observability.health_check() -> { overall, cpu, memory, disk, timestamp } | nil, error`
---@return any # { overall, cpu, memory, disk, timestamp } | nil, error
function observability.health_check() end

---How busy and how full the machine is; as `metrics.system_cpu`, `system_memory` and `system_disk` tell it.
---`observability.system_metrics() -> { cpu, memory, disk } | nil, error`
---@return any # { cpu, memory, disk } | nil, error
function observability.system_metrics() end

---The `os` of Lua, where a step runs. Beside what is described here there are `time`, `date`, `clock`, `difftime` and `getenv`, as in Lua.
---@class hostler.os
os = {}

---Runs a line of shell; what it prints are words of the step. What it leaves in the background goes on. Without a line it says whether there is a shell.
---`os.execute([command]) -> code, "exit" | "signal", code`
---@param command? any
---@return any # code, "exit" | "signal", code
function os.execute(command) end

---Removes a file or an empty directory.
---`os.remove(path) -> true | nil, error`
---@param path any
---@return any # true | nil, error
function os.remove(path) end

---Gives a file or directory another name.
---`os.rename(from, to) -> true | nil, error`
---@param from any
---@param to any
---@return any # true | nil, error
function os.rename(from, to) end

---Makes an empty file with a name that nobody has, and gives its path.
---`os.tmpname() -> path`
---@return any # path
function os.tmpname() end

---Ends the step; with a code that is not 0, or with `false`, it failed.
---`os.exit([code])`
---@param code? any
function os.exit(code) end

---Where a link leads.
---`os.readlink(path) -> target | nil, error`
---@param path any
---@return any # target | nil, error
function os.readlink(path) end

---What is known about a file; of a link, about itself: its `type` is `link`. Otherwise as `fs.stat`.
---`os.lstat(path) -> { path, type, size, mode, mtime, uid, gid } | nil, error`
---@param path any
---@return any # { path, type, size, mode, mtime, uid, gid } | nil, error
function os.lstat(path) end

---How long something takes.
---@class hostler.perf
perf = {}

---Calls a function, and gives how long it took before what it returned. With a name that is told, and kept as a histogram of `metrics`.
---`perf.measure(fn[, name]) -> milliseconds, values...`
---@param fn any
---@param name? any
---@return any # milliseconds, values...
function perf.measure(fn, name) end

---Packages, through whichever manager the machine has: apt, dnf, yum, pacman, zypper or apk. What is installed already is not touched. Who is not root needs `sudo` without a password.
---@class hostler.pkg
pkg = {}

---Makes packages be installed; one name or a list. With `update = true` the lists are fetched before something is installed. The result names what was `installed`.
---`pkg.install{ packages, update } | (packages) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function pkg.install(options) end

---Makes packages not be installed; with `purge = true` their configuration goes, too, where the manager can. The result names what was `removed`.
---`pkg.remove{ packages, purge } | (packages) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function pkg.remove(options) end

---Fetches the lists of packages anew.
---`pkg.update() -> result, result | nil, error`
---@return any # result, result | nil, error
function pkg.update() end

---Brings all packages up to date, as far as the lists on the machine know.
---`pkg.upgrade() -> result, result | nil, error`
---@return any # result, result | nil, error
function pkg.upgrade() end

---Removes what was fetched to install packages from.
---`pkg.clean() -> result, result | nil, error`
---@return any # result, result | nil, error
function pkg.clean() end

---Removes packages that came for others and that nothing needs any more.
---`pkg.autoremove() -> result, result | nil, error`
---@return any # result, result | nil, error
function pkg.autoremove() end

---Installs a package from a file on the machine, unless that version is there. Its signature counts unless `untrusted = true`.
---`pkg.install_local{ file, untrusted } | (file) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function pkg.install_local(options) end

---Packages whose name or description fits: a list of `{ name, version, description }` that can be used as a text of lines.
---`pkg.search{ query } | (query) -> true, packages | nil, error`
---@param options any
---@return any # true, packages | nil, error
function pkg.search(options) end

---What the manager says about a package.
---`pkg.info{ package } | (package) -> true, text | nil, error`
---@param options any
---@return any # true, text | nil, error
function pkg.info(options) end

---All installed packages: a list of `{ name, version }`.
---`pkg.list() -> true, packages | nil, error`
---@return any # true, packages | nil, error
function pkg.list() end

---Whether a package is installed.
---`pkg.is_installed{ package } | (package) -> boolean, message | nil, error`
---@param options any
---@return any # boolean, message | nil, error
function pkg.is_installed(options) end

---The installed version of a package.
---`pkg.version{ package } | (package) -> version | nil, error`
---@param options any
---@return any # version | nil, error
function pkg.version(options) end

---What a package needs: a list of names that can be used as a text of lines.
---`pkg.deps{ package } | (package) -> true, names | nil, error`
---@param options any
---@return any # true, names | nil, error
function pkg.deps(options) end

---Where a program is, and the package that owns it where that is known.
---`pkg.which{ executable } | (executable) -> path, package | nil, error`
---@param options any
---@return any # path, package | nil, error
function pkg.which(options) end

---The name of the manager: `apt`, `dnf`, `yum`, `pacman`, `zypper` or `apk`.
---`pkg.get_manager() -> name | nil, error`
---@return any # name | nil, error
function pkg.get_manager() end

---Infrastructure that programs describe, with the `pulumi` of the machine. Nothing asks back: `up` and `destroy` of a stack go ahead, those of a client when they are given `auto_approve`.
---@class hostler.pulumi
pulumi = {}

---Signs in at a backend, and gives a client.
---`pulumi.login([url][, { login_local, workdir, env }]) -> client | nil, error`
---@param url? any
---@param options? any
---@return any # client | nil, error
function pulumi.login(url, options) end

---A stack in a directory. `login` (or `login_url`) is the backend, `venv` a virtual environment or `venv_path` its path.
---`pulumi.stack(name[, { workdir, login, venv, env }]) -> stack`
---@param name any
---@param options? any
---@return any # stack
function pulumi.stack(name, options) end

---Runs pulumi with a list of words.
---`pulumi.exec(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function pulumi.exec(args, options) end

---Python and its virtual environments. Methods of a venv can be chained; a chain stops where something failed.
---@class hostler.python
python = {}

---A virtual environment at a path, whether it is there or not. `venv.path` is where.
---`python.venv(path) -> venv`
---@param path any
---@return any # venv
function python.venv(path) end

---Runs the Python of the machine with a list of words.
---`python.exec(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function python.exec(args, options) end

---The version of the machine's Python.
---`python.version() -> text | nil, error`
---@return any # text | nil, error
function python.version() end

---Arrays of disks, through `mdadm`.
---@class hostler.raid
raid = {}

---Makes an array of devices; of those, the last `spares` are kept for a failure.
---`raid.create{ name, level, devices, metadata, spares, chunk, force } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function raid.create(options) end

---Puts an array together that was made before; with `scan` all that are found.
---`raid.assemble(name[, scan]) -> result, result | nil, error`
---@param name any
---@param scan? any
---@return any # result, result | nil, error
function raid.assemble(name, scan) end

---Stops an array.
---`raid.stop(name) -> result, result | nil, error`
---@param name any
---@return any # result, result | nil, error
function raid.stop(name) end

---The same as `raid.stop`: the array is gone, what is on its devices stays.
---`raid.remove(name) -> result, result | nil, error`
---@param name any
---@return any # result, result | nil, error
function raid.remove(name) end

---Adds a device to an array.
---`raid.add(name, device) -> result, result | nil, error`
---@param name any
---@param device any
---@return any # result, result | nil, error
function raid.add(name, device) end

---The same as `raid.add`.
---`raid.add_device(name, device) -> result, result | nil, error`
---@param name any
---@param device any
---@return any # result, result | nil, error
function raid.add_device(name, device) end

---Adds a device that is kept for a failure.
---`raid.add_spare(name, device) -> result, result | nil, error`
---@param name any
---@param device any
---@return any # result, result | nil, error
function raid.add_spare(name, device) end

---Marks a device of an array as failed.
---`raid.fail(name, device) -> result, result | nil, error`
---@param name any
---@param device any
---@return any # result, result | nil, error
function raid.fail(name, device) end

---The same as `raid.fail`.
---`raid.fail_device(name, device) -> result, result | nil, error`
---@param name any
---@param device any
---@return any # result, result | nil, error
function raid.fail_device(name, device) end

---Takes a failed device out of an array.
---`raid.remove_device(name, device) -> result, result | nil, error`
---@param name any
---@param device any
---@return any # result, result | nil, error
function raid.remove_device(name, device) end

---Gives an array another shape.
---`raid.grow(name, { level, raid_devices, chunk, layout }) -> result, result | nil, error`
---@param name any
---@param options any
---@return any # result, result | nil, error
function raid.grow(name, options) end

---Begins to compare what is on the devices.
---`raid.check(name) -> result, result | nil, error`
---@param name any
---@return any # result, result | nil, error
function raid.check(name) end

---Begins to compare what is on the devices, and mends it.
---`raid.repair(name) -> result, result | nil, error`
---@param name any
---@return any # result, result | nil, error
function raid.repair(name) end

---What an array is made of.
---`raid.detail(name) -> { name, level, devices, uuid, .. } | nil, error`
---@param name any
---@return any # { name, level, devices, uuid, .. } | nil, error
function raid.detail(name) end

---How arrays are, as the kernel says it.
---`raid.status() -> text | nil, error`
---@return any # text | nil, error
function raid.status() end

---All arrays that are at work.
---`raid.list() -> [{ name, state, level, devices }] | nil, error`
---@return any # [{ name, state, level, devices }] | nil, error
function raid.list() end

---Whether there is such an array.
---`raid.exists(name) -> boolean | nil, error`
---@param name any
---@return any # boolean | nil, error
function raid.exists(name) end

---All arrays, as lines of a configuration.
---`raid.scan() -> text | nil, error`
---@return any # text | nil, error
function raid.scan() end

---Writes all arrays to the configuration of mdadm, so that they are put together at boot.
---`raid.save_config() -> result, result | nil, error`
---@return any # result, result | nil, error
function raid.save_config() end

---Trying again, and leaving alone what keeps failing. A function fails when it raises, or returns `nil, error`, `false, error` or `false`. Times are seconds, or texts such as `500ms`. Circuits are shared by the steps that one process carries out for an execution.
---@class hostler.reliability
reliability = {}

---Calls a function until it goes well, at most so often, with a wait between.
---`reliability.retry(attempts, delay, fn) -> values... | nil, error`
---@param attempts any
---@param delay any
---@param fn any
---@return any # values... | nil, error
function reliability.retry(attempts, delay, fn) end

---The same with a wait that grows. The strategy is one of `reliability.strategy`: FIXED_DELAY, EXPONENTIAL_BACKOFF, LINEAR_BACKOFF, or CUSTOM_BACKOFF with `backoff = fn(attempt, error)` that gives the seconds. `jitter` takes up to that share (true: half) off each wait. `on_retry(attempt, delay, error)` is called before each wait.
---`reliability.retry_with_config({ max_attempts = 3, initial_delay = 1, max_delay = 30, strategy, multiplier = 2, jitter, backoff, on_retry }, fn) -> values... | nil, error`
---@param options any
---@param fn any
---@return any # values... | nil, error
function reliability.retry_with_config(options, fn) end

---Calls a function unless it failed so often in a row; then it is left alone for a while, and tried again one at a time. `on_state_change(from, to)` is told about `closed`, `open` and `half-open`.
---`reliability.circuit_breaker(name, { max_failures = 5, timeout = 60, success_threshold = 1, on_state_change }, fn) -> values... | nil, error`
---@param name any
---@param options any
---@param fn any
---@return any # values... | nil, error
function reliability.circuit_breaker(name, options, fn) end

---What a circuit has seen; times are seconds since 1970.
---`reliability.get_circuit_stats(name) -> { state, requests, total_success, total_failures, consecutive_success, consecutive_failures, last_success_time, last_failure_time } | nil, error`
---@param name any
---@return any # { state, requests, total_success, total_failures, consecutive_success, consecutive_failures, last_success_time, last_failure_time } | nil, error
function reliability.get_circuit_stats(name) end

---Closes a circuit and forgets what it has seen; false when there is none.
---`reliability.reset_circuit(name) -> boolean`
---@param name any
---@return any # boolean
function reliability.reset_circuit(name) end

---The names of all circuits.
---`reliability.list_circuits() -> names`
---@return any # names
function reliability.list_circuits() end

---Minions of a Salt master, with the `salt` of the machine. Any function of Salt is a method of a target: `salt.target('web*'):pkg_install('nginx')` calls `pkg.install`. A call gives `result, stdout, stderr, error`; `result.data` has what the minions said, by their names.
---@class hostler.salt
salt = {}

---A client, with options for every call: the directory of the configuration, how long a master waits, how many minions at a time.
---`salt.client([{ config_dir, timeout, batch }]) -> client`
---@param options? any
---@return any # client
function salt.client(options) end

---Minions: by a `glob` where nothing is said, or by `list`, `grain`, `pillar`, `compound`, `regex`, `nodegroup` or `subnet`.
---`salt.target(expression[, type]) -> target`
---@param expression any
---@param type? any
---@return any # target
function salt.target(expression, type) end

---Calls a runner on the master, as `jobs.active`.
---`salt.runner(function, ...) -> result, stdout, stderr, error`
---@param function_ any
---@param ... any
---@return any # result, stdout, stderr, error
function salt.runner(function_, ...) end

---Calls a function on this machine, without a master.
---`salt.call(function, ...) -> result, stdout, stderr, error`
---@param function_ any
---@param ... any
---@return any # result, stdout, stderr, error
function salt.call(function_, ...) end

---Secrets that the execution was given, by their names: `secrets.TOKEN` is one, or nothing. They are in memory only, and scrubbed from what steps print. While a file is defined nobody knows them.
---@class hostler.secrets
secrets = {}

---A secret, or why there is none.
---`secrets.get(name) -> text | nil, error`
---@param name any
---@return any # text | nil, error
function secrets.get(name) end

---What others could use against a machine: ports, certificates and headers as they are seen from outside, permissions, passwords and settings from within. Nothing is changed.
---@class hostler.security
security = {}

---Which TCP ports take connections: those of a list, or of a text such as `22,80,8000-8100`; the first 1024 where nothing is said. A second is waited for each, for many at a time.
---`security.scan_ports(host[, ports][, timeout]) -> { open, closed, total_scanned } | nil, error`
---@param host any
---@param ports? any
---@param timeout? any
---@return any # { open, closed, total_scanned } | nil, error
function security.scan_ports(host, ports, timeout) end

---The certificate of a server and whether it is to be believed, as `network.ssl_check` has it.
---`security.check_ssl_cert(host[, port[, timeout]]) -> { valid, error, subject, issuer, names, not_after, days_left, protocol, ... } | nil, error`
---@param host any
---@param port? any
---@param timeout? any
---@return any # { valid, error, subject, issuer, names, not_after, days_left, protocol, ... } | nil, error
function security.check_ssl_cert(host, port, timeout) end

---Which of the headers that protect people's browsers an answer has; `score` is their share in percent.
---`security.check_http_headers(url[, timeout]) -> { present, missing, score, status_code } | nil, error`
---@param url any
---@param timeout? any
---@return any # { present, missing, score, status_code } | nil, error
function security.check_http_headers(url, timeout) end

---What anybody could change below a path (the working directory where none is told), and private keys that others can read. Other file systems and links are left out.
---`security.audit_permissions([path]) -> [{ path, mode, problem }] | nil, error`
---@param path? any
---@return any # [{ path, mode, problem }] | nil, error
function security.audit_permissions(path) end

---Programs below a path (`/` where none is told) that run as their owner or group, whoever starts them.
---`security.find_suid_files([path]) -> [{ path, mode, uid, gid, setuid, setgid }] | nil, error`
---@param path? any
---@return any # [{ path, mode, uid, gid, setuid, setgid }] | nil, error
function security.find_suid_files(path) end

---Whether a file has the SHA-256 that is told; without one it is only said which it has.
---`security.check_file_integrity(path[, checksum]) -> boolean, { path, checksum, expected } | nil, error`
---@param path any
---@param checksum? any
---@return any # boolean, { path, checksum, expected } | nil, error
function security.check_file_integrity(path, checksum) end

---How hard a password is to guess: a `score` from 0 to 4, the same in a word, and what would make it better.
---`security.password_strength(password) -> { score, strength, entropy, length, suggestions }`
---@param password any
---@return any # { score, strength, entropy, length, suggestions }
function security.password_strength(password) end

---The usual questions about a machine: who owns its databases of accounts, empty passwords, second roots, how SSH lets people in, what the kernel answers to strangers. They are questions of ours in the manner of such lists, and no certificate.
---`security.cis_benchmark() -> { passed, failed, skipped, total, score, checks = [{ id, title, passed, detail }] } | nil, error`
---@return any # { passed, failed, skipped, total, score, checks = [{ id, title, passed, detail }] } | nil, error
function security.cis_benchmark() end

---Hostler itself, from within a step: its agents, workflows and stacks, with the `hostler` on the path (or in HOSTLER_BIN) and whoever it is signed in as. The name is that of the system whose files use it.
---@class hostler.sloth
sloth = {}

---Runs hostler with a list of words.
---`sloth.exec(args[, options]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function sloth.exec(args, options) end

---Carries out the workflows of a file, or with `sloth` one that the server keeps, and waits for them.
---`sloth.run{ file | sloth, workflow, task, values, set, delegate_to, version } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function sloth.run(options) end

---Directories that are shared with Samba, in `/etc/samba/smb.conf`. The server reads the file again where it changed. Shares of others are not touched.
---@class hostler.smb
smb = {}

---Makes a directory be shared under a name.
---`smb.share{ name, path, comment, writeable, browseable, guest_ok, valid_users } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function smb.share(options) end

---Makes a share not be there. Only shares made by `smb.share` can be removed.
---`smb.unshare(name) -> result, result | nil, error`
---@param name any
---@return any # result, result | nil, error
function smb.unshare(name) end

---All shares of the configuration.
---`smb.list_shares() -> [{ name, path, comment }] | nil, error`
---@return any # [{ name, path, comment }] | nil, error
function smb.list_shares() end

---Whether there is a share of this name.
---`smb.is_shared(name) -> boolean | nil, error`
---@param name any
---@return any # boolean | nil, error
function smb.is_shared(name) end

---Makes the server read its configuration.
---`smb.reload() -> result, result | nil, error`
---@return any # result, result | nil, error
function smb.reload() end

---Lets a user of the machine use shares with a password. Always a change.
---`smb.add_user(username, password) -> result, result | nil, error`
---@param username any
---@param password any
---@return any # result, result | nil, error
function smb.add_user(username, password) end

---Does not let a user use shares any more.
---`smb.remove_user(username) -> result, result | nil, error`
---@param username any
---@return any # result, result | nil, error
function smb.remove_user(username) end

---Other machines over SSH, and the keys that let people in on this one. The programs `ssh` and `sftp` of OpenSSH are used; host keys are always checked, and no person is ever asked for a password.
---@class hostler.ssh
ssh = {}

---Tries whether a machine lets us in with a key, or with the `password` that is told, and gives a client for it. Its host key must be known (`~/.ssh/known_hosts`, or the file `known_hosts`); with `accept_new = true` one that was never seen is taken. A key is better than a password, which should come from `secrets`.
---`ssh.connect(host, user[, { port, key_path, password, timeout, accept_new, known_hosts }]) -> client | nil, error`
---@param host any
---@param user any
---@param options? any
---@return any # client | nil, error
function ssh.connect(host, user, options) end

---Makes a client of no further use.
---`ssh.disconnect(client) -> true`
---@param client any
---@return any # true
function ssh.disconnect(client) end

---Runs a line on the other machine; its shell reads it. A list of words is quoted, so that each arrives as it is.
---`ssh.exec(client, command) -> true, { stdout, stderr, exit_code, success } | nil, error`
---@param client any
---@param command any
---@return any # true, { stdout, stderr, exit_code, success } | nil, error
function ssh.exec(client, command) end

---Copies a file to the other machine.
---`ssh.upload(client, local, remote) -> result, result | nil, error`
---@param client any
---@param local any
---@param remote any
---@return any # result, result | nil, error
function ssh.upload(client, local, remote) end

---Copies a file from the other machine.
---`ssh.download(client, remote, local) -> result, result | nil, error`
---@param client any
---@param remote any
---@param local any
---@return any # result, result | nil, error
function ssh.download(client, remote, local) end

---Copies what is in a directory to a directory of the other machine, which is made where it is missing.
---`ssh.upload_dir(client, local, remote) -> result, result | nil, error`
---@param client any
---@param local any
---@param remote any
---@return any # result, result | nil, error
function ssh.upload_dir(client, local, remote) end

---Copies what is in a directory of the other machine to one here, which is made where it is missing.
---`ssh.download_dir(client, remote, local) -> result, result | nil, error`
---@param client any
---@param remote any
---@param local any
---@return any # result, result | nil, error
function ssh.download_dir(client, remote, local) end

---Whether something is at a path there.
---`ssh.exists(client, path) -> boolean | nil, error`
---@param client any
---@param path any
---@return any # boolean | nil, error
function ssh.exists(client, path) end

---What is at a path there.
---`ssh.stat(client, path) -> true, { name, size, mode, is_dir, mod_time, uid, gid } | nil, error`
---@param client any
---@param path any
---@return any # true, { name, size, mode, is_dir, mod_time, uid, gid } | nil, error
function ssh.stat(client, path) end

---What is in a directory there, by name.
---`ssh.list_dir(client, path) -> true, names | nil, error`
---@param client any
---@param path any
---@return any # true, names | nil, error
function ssh.list_dir(client, path) end

---Makes a directory there, with those above.
---`ssh.mkdir(client, path) -> result, result | nil, error`
---@param client any
---@param path any
---@return any # result, result | nil, error
function ssh.mkdir(client, path) end

---Removes a file there; a directory with all that is in it only with `true`.
---`ssh.remove(client, path[, recursive]) -> result, result | nil, error`
---@param client any
---@param path any
---@param recursive? any
---@return any # result, result | nil, error
function ssh.remove(client, path, recursive) end

---Gives something there another name.
---`ssh.rename(client, from, to) -> result, result | nil, error`
---@param client any
---@param from any
---@param to any
---@return any # result, result | nil, error
function ssh.rename(client, from, to) end

---Gives something there another mode, in octal digits.
---`ssh.chmod(client, path, mode) -> result, result | nil, error`
---@param client any
---@param path any
---@param mode any
---@return any # result, result | nil, error
function ssh.chmod(client, path, mode) end

---Gives something there another owner and group.
---`ssh.chown(client, path, uid, gid) -> result, result | nil, error`
---@param client any
---@param path any
---@param uid any
---@param gid any
---@return any # result, result | nil, error
function ssh.chown(client, path, uid, gid) end

---Makes a port of this machine lead to one that the other machine can reach, until it is closed or the step ends. A `local_port` of 0 is any that is free.
---`ssh.create_tunnel(client, local_port, remote_host, remote_port) -> { local_port, address } | nil, error`
---@param client any
---@param local_port any
---@param remote_host any
---@param remote_port any
---@return any # { local_port, address } | nil, error
function ssh.create_tunnel(client, local_port, remote_host, remote_port) end

---Closes a tunnel; whether it was open.
---`ssh.close_tunnel(tunnel) -> boolean`
---@param tunnel any
---@return any # boolean
function ssh.close_tunnel(tunnel) end

---Lets programs on the other machine use the keys of the SSH agent here, from now on. Only for machines that are trusted with them.
---`ssh.enable_agent_forward(client) -> true`
---@param client any
---@return any # true
function ssh.enable_agent_forward(client) end

---Whether a file is a private key that can be used, and which.
---`ssh.load_private_key(path) -> true, { path, bits, fingerprint, comment, type } | nil, error`
---@param path any
---@return any # true, { path, bits, fingerprint, comment, type } | nil, error
function ssh.load_private_key(path) end

---Makes a pair of keys without a passphrase, unless the file is there already; ed25519 unless told otherwise. The result has `path`, `public_path` and `public_key`.
---`ssh.generate_keypair{ path, type, bits, comment } | (path[, options]) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function ssh.generate_keypair(options) end

---Lets whoever has a key in as a user of this machine.
---`ssh.add_authorized_key{ user, key, comment, options } | (user, key) -> result, result | nil, error`
---@param options any
---@param key any
---@return any # result, result | nil, error
function ssh.add_authorized_key(options, key) end

---Does not let a key in any more.
---`ssh.remove_authorized_key{ user, key } | (user, key) -> result, result | nil, error`
---@param options any
---@param key any
---@return any # result, result | nil, error
function ssh.remove_authorized_key(options, key) end

---All keys that let somebody in as a user.
---`ssh.list_authorized_keys{ user } | (user) -> [{ type, key, comment, options }] | nil, error`
---@param options any
---@return any # [{ type, key, comment, options }] | nil, error
function ssh.list_authorized_keys(options) end

---Whether a key lets somebody in as a user.
---`ssh.key_exists{ user, key } | (user, key) -> boolean | nil, error`
---@param options any
---@param key any
---@return any # boolean | nil, error
function ssh.key_exists(options, key) end

---The stack that a step belongs to, its outputs and its resources. `stack("name")` at the top of a file says which one that is.
---@class hostler.stack
stack = {}

---The name of the stack; nil when the step belongs to none.
---`stack.get_name() -> name | nil`
---@return any # name | nil
function stack.get_name() end

---The id of the stack.
---`stack.get_id() -> id | nil`
---@return any # id | nil
function stack.get_id() end

---How it is with the stack: `created`, `running`, `completed` or `failed`.
---`stack.get_status() -> status | nil`
---@return any # status | nil
function stack.get_status() end

---Says what an output of the stack is.
---`stack.set_output(key, value) -> true | false, error`
---@param key any
---@param value any
---@return any # true | false, error
function stack.set_output(key, value) end

---What an output of the stack is.
---`stack.get_output(key) -> value | nil`
---@param key any
---@return any # value | nil
function stack.get_output(key) end

---Says what a resource of the stack is to be, and tells whether that is new. Raises when the step belongs to no stack.
---`stack.register_resource{ type, name, module, properties, dependencies } -> "created" | "changed" | "unchanged", resource`
---@param options any
---@return any # "created" | "changed" | "unchanged", resource
function stack.register_resource(options) end

---A resource: `id`, `stack_id`, `type`, `name`, `module`, `state`, `checksum`, `properties`, `dependencies`.
---`stack.get_resource(type, name) -> resource | nil`
---@param type any
---@param name any
---@return any # resource | nil
function stack.get_resource(type, name) end

---Says how it is with a resource: its state is `pending`, `applied`, `failed` or `drift`.
---`stack.update_resource(type, name, { state, error }) -> true | false, error`
---@param type any
---@param name any
---@param options any
---@return any # true | false, error
function stack.update_resource(type, name, options) end

---Forgets a resource.
---`stack.delete_resource(type, name) -> true | false, error`
---@param type any
---@param name any
---@return any # true | false, error
function stack.delete_resource(type, name) end

---Whether there is such a resource.
---`stack.resource_exists(type, name) -> boolean`
---@param type any
---@param name any
---@return any # boolean
function stack.resource_exists(type, name) end

---Takes the lock of the stack, as `hostler stack lock acquire` does, and keeps it until it is given back or the step ends. Waits as long as it takes, or so many seconds. It is there already where `require_lock` says so.
---`stack.acquire_lock(timeout) -> true | false, error`
---@param timeout any
---@return any # true | false, error
function stack.acquire_lock(timeout) end

---Gives the lock of the stack back.
---`stack.release_lock() -> true | false, error`
---@return any # true | false, error
function stack.release_lock() end

---Goes through the checklist of the stack, on a server.
---`stack.validate() -> true | false, { { check, result, message } } | nil, error`
---@return any # true | false, { { check, result, message } } | nil, error
function stack.validate() end

---Looks at what every object of the stack really is, on a server.
---`stack.drift() -> { drifted, looked, changed, missing, items } | nil, error`
---@return any # { drifted, looked, changed, missing, items } | nil, error
function stack.drift() end

---Keeps the stack as it is, on a server, and waits until that is done.
---`stack.snapshot(name) -> id | nil, error`
---@param name any
---@return any # id | nil, error
function stack.snapshot(name) end

---Brings the stack back, on a server, and waits until that is done: to a revision (`v3`), to a snapshot by its id, or to what it was before the first step.
---`stack.rollback(point) -> true | false, error`
---@param point any
---@return any # true | false, error
function stack.rollback(point) end

---What is kept between steps, executions and machines under a key, and locks. Values are strings of any bytes and what JSON knows, and come back as they were. On nodes of a server they are those of the project, in the namespace `default` (`hostler state`, `hostler lock`). Changes of one entry are done in one go, whoever else changes it. A time to live is in seconds, or a text such as `5m`; an entry is gone exactly when it is over.
---@class hostler.state
state = {}

---Keeps a value, for ever or for so long.
---`state.set(key, value[, ttl]) -> true | false, error`
---@param key any
---@param value any
---@param ttl? any
---@return any # true | false, error
function state.set(key, value, ttl) end

---The same with a time to live.
---`state.set_with_ttl(key, value, ttl) -> true | false, error`
---@param key any
---@param value any
---@param ttl any
---@return any # true | false, error
function state.set_with_ttl(key, value, ttl) end

---What is kept under a key.
---`state.get(key[, default]) -> value | nil, error`
---@param key any
---@param default? any
---@return any # value | nil, error
function state.get(key, default) end

---Forgets an entry.
---`state.delete(key) -> true, existed | false, error`
---@param key any
---@return any # true, existed | false, error
function state.delete(key) end

---Whether there is an entry.
---`state.exists(key) -> boolean`
---@param key any
---@return any # boolean
function state.exists(key) end

---The same as `state.exists`.
---`state.has(key) -> boolean`
---@param key any
---@return any # boolean
function state.has(key) end

---The sorted keys that match a pattern in which `*` stands for any text; all without one. A text without `*` is the beginning of keys, and gives a table of these keys and their values.
---`state.keys([pattern]) -> keys | entries`
---@param pattern? any
---@return any # keys | entries
function state.keys(pattern) end

---A table of keys and values.
---`state.get_all([pattern]) -> entries`
---@param pattern? any
---@return any # entries
function state.get_all(pattern) end

---Forgets every entry that matches; all without a pattern.
---`state.clear([pattern]) -> true, count | false, error`
---@param pattern? any
---@return any # true, count | false, error
function state.clear(pattern) end

---Lets an entry live so long from now on, or for ever without a time; false when there is none.
---`state.set_ttl(key, ttl) -> boolean`
---@param key any
---@param ttl any
---@return any # boolean
function state.set_ttl(key, ttl) end

---How long an entry lives, rounded up to whole seconds: -1 for ever, -2 when there is none.
---`state.get_ttl(key) -> seconds`
---@param key any
---@return any # seconds
function state.get_ttl(key) end

---The same as `state.get_ttl`.
---`state.ttl(key) -> seconds`
---@param key any
---@return any # seconds
function state.ttl(key) end

---Adds to a number, which begins at 0, and gives the new one.
---`state.increment(key[, delta = 1]) -> number | nil, error`
---@param key any
---@param delta? any
---@return any # number | nil, error
function state.increment(key, delta) end

---Subtracts from a number.
---`state.decrement(key[, delta = 1]) -> number | nil, error`
---@param key any
---@param delta? any
---@return any # number | nil, error
function state.decrement(key, delta) end

---Puts text at the end of a text, and gives its length.
---`state.append(key, text) -> length | nil, error`
---@param key any
---@param text any
---@return any # length | nil, error
function state.append(key, text) end

---Sets a value only where the old one is there; nil is no entry.
---`state.compare_swap(key, old, new) -> boolean`
---@param key any
---@param old any
---@param new any
---@return any # boolean
function state.compare_swap(key, old, new) end

---Puts a value at the end of a list.
---`state.list_push(key, value) -> length | nil, error`
---@param key any
---@param value any
---@return any # length | nil, error
function state.list_push(key, value) end

---Takes the value at the end of a list.
---`state.list_pop(key) -> value | nil`
---@param key any
---@return any # value | nil
function state.list_pop(key) end

---How many values a list has; 0 when there is none.
---`state.list_length(key) -> number | nil, error`
---@param key any
---@return any # number | nil, error
function state.list_length(key) end

---How much is kept; the size is that of keys and values in bytes, the time is seconds since 1970.
---`state.stats() -> { total_keys, total_size, last_modified, backend }`
---@return any # { total_keys, total_size, last_modified, backend }
function state.stats() end

---Takes a lock if it is free, for so long; without a time until `state.unlock` or the end of the step. The number is larger than that of everybody who held the lock before: give it to what the lock protects, so that a late word of an earlier holder can be told from yours.
---`state.try_lock(name[, ttl]) -> true, number | false, error`
---@param name any
---@param ttl? any
---@return any # true, number | false, error
function state.try_lock(name, ttl) end

---Waits for a lock, however long or for so long, and takes it until `state.unlock` or the end of the step. Whoever dies with a lock holds it for 30 seconds more. The number is that of `state.try_lock`.
---`state.lock(name[, timeout]) -> true, number | false, error`
---@param name any
---@param timeout? any
---@return any # true, number | false, error
function state.lock(name, timeout) end

---Gives a lock back that this step holds.
---`state.unlock(name) -> true | false, error`
---@param name any
---@return any # true | false, error
function state.unlock(name) end

---Calls a function while a lock is held, and gives it back whatever happens. The function is given the number of `state.try_lock`.
---`state.with_lock(name, fn[, timeout]) -> values... | nil, error`
---@param name any
---@param fn any
---@param timeout? any
---@return any # values... | nil, error
function state.with_lock(name, fn, timeout) end

---Files of packages, linked into place by GNU Stow. `dir` (or `source_dir`) is the directory of packages, `~/.dotfiles` or `~/dotfiles` where nobody says; `target` (or `target_dir`) is where links go, the directory above where nobody says.
---@class hostler.stow
stow = {}

---Links packages into place; `changed` says whether there was something to link.
---`stow.stow{ package or packages, dir, target, verbose, no_folding, ignore, create_target } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function stow.stow(options) end

---The same as `stow.stow`.
---`stow.link{ package, source_dir, target_dir, create_target, verbose, no_folding } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function stow.link(options) end

---Takes the links of packages away.
---`stow.unstow{ package or packages, dir, target } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function stow.unstow(options) end

---The same as `stow.unstow`.
---`stow.unlink{ package, source_dir, target_dir } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function stow.unlink(options) end

---Takes links away and makes them again, for packages whose files have changed.
---`stow.restow{ package or packages, dir, target } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function stow.restow(options) end

---Takes files that are in the way into the package, and links them.
---`stow.adopt{ package, dir, target } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function stow.adopt(options) end

---Whether packages could be linked, and what is in the way.
---`stow.check{ package, dir, target } -> { would_succeed, output, conflicts } | nil, error`
---@param options any
---@return any # { would_succeed, output, conflicts } | nil, error
function stow.check(options) end

---The same as `stow.check`; `output` has what would be linked.
---`stow.simulate{ package, dir, target } -> { would_succeed, output, conflicts, changed } | nil, error`
---@param options any
---@return any # { would_succeed, output, conflicts, changed } | nil, error
function stow.simulate(options) end

---Makes a directory be there, with its mode and owner.
---`stow.ensure_target{ path, mode, owner } -> result | nil, error`
---@param options any
---@return any # result | nil, error
function stow.ensure_target(options) end

---Packages of a stow directory.
---`stow.list_packages([{ dir }]) -> list | nil, error`
---@param options? any
---@return any # list | nil, error
function stow.list_packages(options) end

---Whether every file of a package is linked into place.
---`stow.is_stowed{ package, dir, target } -> boolean`
---@param options any
---@return any # boolean
function stow.is_stowed(options) end

---Links of a package that are in place: `path`, `source`.
---`stow.get_links{ package, dir, target } -> list | nil, error`
---@param options any
---@return any # list | nil, error
function stow.get_links(options) end

---How much of a package is in place. It is valid where nothing else is in its way, complete where all of it is linked.
---`stow.verify{ package, dir, target } -> { total_files, stowed_links, missing, conflicts, is_valid, is_complete } | nil, error`
---@param options any
---@return any # { total_files, stowed_links, missing, conflicts, is_valid, is_complete } | nil, error
function stow.verify(options) end

---What can be done with texts. Patterns are regular expressions (not those of Lua), in which nothing takes exponential time; invalid ones give `nil, error`.
---@class hostler.strings
strings = {}

---Without white space at both ends.
---`strings.trim(text) -> text`
---@param text any
---@return any # text
function strings.trim(text) end

---In capital letters.
---`strings.upper(text) -> text`
---@param text any
---@return any # text
function strings.upper(text) end

---In small letters.
---`strings.lower(text) -> text`
---@param text any
---@return any # text
function strings.lower(text) end

---Every word with a capital letter in front.
---`strings.title(text) -> text`
---@param text any
---@return any # text
function strings.title(text) end

---The parts between separators; an empty separator gives the characters.
---`strings.split(text, separator) -> { text }`
---@param text any
---@param separator any
---@return any # { text }
function strings.split(text, separator) end

---The items of a list as one text.
---`strings.join(list, separator) -> text`
---@param list any
---@param separator any
---@return any # text
function strings.join(list, separator) end

---Another text in place of each that stands there, or of the first so many.
---`strings.replace(text, old, new[, count]) -> text`
---@param text any
---@param old any
---@param new any
---@param count? any
---@return any # text
function strings.replace(text, old, new, count) end

---Whether a text is in another.
---`strings.contains(text, part) -> boolean`
---@param text any
---@param part any
---@return any # boolean
function strings.contains(text, part) end

---Whether a text begins with another.
---`strings.starts_with(text, part) -> boolean`
---@param text any
---@param part any
---@return any # boolean
function strings.starts_with(text, part) end

---Whether a text ends with another.
---`strings.ends_with(text, part) -> boolean`
---@param text any
---@param part any
---@return any # boolean
function strings.ends_with(text, part) end

---How often a text is in another.
---`strings.count(text, part) -> number`
---@param text any
---@param part any
---@return any # number
function strings.count(text, part) end

---The first place that fits, and its groups; a group that is not there is empty. Without such a place it is nil.
---`strings.match(text, pattern) -> { whole, group, ... } | nil, error`
---@param text any
---@param pattern any
---@return any # { whole, group, ... } | nil, error
function strings.match(text, pattern) end

---Every place that fits.
---`strings.match_all(text, pattern) -> { text } | nil, error`
---@param text any
---@param pattern any
---@return any # { text } | nil, error
function strings.match_all(text, pattern) end

---Another text in place of every one that fits; `$1` is its first group.
---`strings.replace_regex(text, pattern, new) -> text | nil, error`
---@param text any
---@param pattern any
---@param new any
---@return any # text | nil, error
function strings.replace_regex(text, pattern, new) end

---The bytes in base64.
---`strings.base64_encode(text) -> text`
---@param text any
---@return any # text
function strings.base64_encode(text) end

---The bytes behind base64, of either alphabet, with or without its padding.
---`strings.base64_decode(text) -> text | nil, error`
---@param text any
---@return any # text | nil, error
function strings.base64_decode(text) end

---As a value in a query of a URL.
---`strings.url_encode(text) -> text`
---@param text any
---@return any # text
function strings.url_encode(text) end

---The text behind a value in a query.
---`strings.url_decode(text) -> text | nil, error`
---@param text any
---@return any # text | nil, error
function strings.url_decode(text) end

---The MD5 digest in hex; for old protocols, not for safety.
---`strings.md5(text) -> text`
---@param text any
---@return any # text
function strings.md5(text) end

---The SHA-1 digest in hex; for old protocols, not for safety.
---`strings.sha1(text) -> text`
---@param text any
---@return any # text
function strings.sha1(text) end

---The SHA-256 digest in hex.
---`strings.sha256(text) -> text`
---@param text any
---@return any # text
function strings.sha256(text) end

---Whether it looks as an address of mail does.
---`strings.is_email(text) -> boolean`
---@param text any
---@return any # boolean
function strings.is_email(text) end

---Whether it is a URL with a host.
---`strings.is_url(text) -> boolean`
---@param text any
---@return any # boolean
function strings.is_url(text) end

---Whether it is a number.
---`strings.is_numeric(text) -> boolean`
---@param text any
---@return any # boolean
function strings.is_numeric(text) end

---Whether it has letters and nothing else.
---`strings.is_alpha(text) -> boolean`
---@param text any
---@return any # boolean
function strings.is_alpha(text) end

---Whether it has letters and digits and nothing else.
---`strings.is_alphanumeric(text) -> boolean`
---@param text any
---@return any # boolean
function strings.is_alphanumeric(text) end

---Filled up in front, with spaces if nothing else is said.
---`strings.pad_left(text, length[, character]) -> text`
---@param text any
---@param length any
---@param character? any
---@return any # text
function strings.pad_left(text, length, character) end

---Filled up at the end, with spaces if nothing else is said.
---`strings.pad_right(text, length[, character]) -> text`
---@param text any
---@param length any
---@param character? any
---@return any # text
function strings.pad_right(text, length, character) end

---At most so long; what is cut ends with the suffix, `...` if nothing else is said.
---`strings.truncate(text, length[, suffix]) -> text`
---@param text any
---@param length any
---@param suffix? any
---@return any # text
function strings.truncate(text, length, suffix) end

---Parameters of the kernel: what it has now, and what it gets at the next boot.
---@class hostler.sysctl
sysctl = {}

---What the kernel has for a parameter.
---`sysctl.get(key) -> value | nil, error`
---@param key any
---@return any # value | nil, error
function sysctl.get(key) end

---Gives the kernel a value, until it boots again.
---`sysctl.set(key, value) -> result, result | nil, error`
---@param key any
---@param value any
---@return any # result, result | nil, error
function sysctl.set(key, value) end

---Gives the kernel a value now and at every boot; it is written to `file`, or to one of ours in `/etc/sysctl.d`.
---`sysctl.set_persistent(key, value[, file]) -> result, result | nil, error`
---@param key any
---@param value any
---@param file? any
---@return any # result, result | nil, error
function sysctl.set_persistent(key, value, file) end

---All parameters whose name fits a regular expression.
---`sysctl.list([pattern]) -> [{ name, value }] | nil, error`
---@param pattern? any
---@return any # [{ name, value }] | nil, error
function sysctl.list(pattern) end

---Whether the kernel has a parameter.
---`sysctl.exists(key) -> boolean | nil, error`
---@param key any
---@return any # boolean | nil, error
function sysctl.exists(key) end

---Gives the kernel what one file says; `/etc/sysctl.conf` when left out.
---`sysctl.reload([file]) -> result, result | nil, error`
---@param file? any
---@return any # result, result | nil, error
function sysctl.reload(file) end

---Gives the kernel what all files of the machine say.
---`sysctl.apply() -> result, result | nil, error`
---@return any # result, result | nil, error
function sysctl.apply() end

---Services of the machine. What runs, or is enabled, already is not touched. Names may be given alone or as `{ name = .. }`.
---@class hostler.systemd
systemd = {}

---Writes the file that describes a service, and makes systemd read it where it changed. Starting it is `start`, at boot `enable`.
---`systemd.create_service{ name, exec_start, description, after, wants, requires, exec_stop, exec_reload, type, user, group, working_directory, restart, restart_sec, environment, wanted_by } | (name, options) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.create_service(options) end

---Makes a service run.
---`systemd.start{ name } | (name) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.start(options) end

---Makes a service not run.
---`systemd.stop{ name } | (name) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.stop(options) end

---Makes a service start at boot.
---`systemd.enable{ name } | (name) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.enable(options) end

---Makes a service not start at boot.
---`systemd.disable{ name } | (name) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.disable(options) end

---Makes a service be as told: `state` is `running` (or `started`) or `stopped`, `enabled` whether it starts at boot.
---`systemd.ensure{ name, state, enabled } -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.ensure(options) end

---Stops and starts a service; starts what does not run. Always a change.
---`systemd.restart{ name } | (name) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.restart(options) end

---Makes a service read its configuration again. Always a change.
---`systemd.reload{ name } | (name) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.reload(options) end

---Makes systemd read unit files again.
---`systemd.daemon_reload() -> result, result | nil, error`
---@return any # result, result | nil, error
function systemd.daemon_reload() end

---Stops and disables a service and removes the file that describes it.
---`systemd.remove_service{ name } | (name) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function systemd.remove_service(options) end

---For people: state, processes, the last lines of the journal.
---`systemd.status{ name } | (name) -> text | nil, error`
---@param options any
---@return any # text | nil, error
function systemd.status(options) end

---Whether a service runs, and its state in systemd's word.
---`systemd.is_active{ name } | (name) -> boolean, state | nil, error`
---@param options any
---@return any # boolean, state | nil, error
function systemd.is_active(options) end

---Whether a service starts at boot, and how in systemd's word.
---`systemd.is_enabled{ name } | (name) -> boolean, state | nil, error`
---@param options any
---@return any # boolean, state | nil, error
function systemd.is_enabled(options) end

---Services as systemd prints them, those of one state where it is told.
---`systemd.list_services{ state, no_header } | () -> text | nil, error`
---@param options any
---@return any # text | nil, error
function systemd.list_services(options) end

---Everything systemd knows about a unit, as `Name=value` lines.
---`systemd.show{ name } | (name) -> text | nil, error`
---@param options any
---@return any # text | nil, error
function systemd.show(options) end

---Infrastructure that files describe, with the `terraform` of the machine. The client that `terraform.init` gives has every function here as a method that acts in its directory.
---@class hostler.terraform
terraform = {}

---Prepares a directory, and gives a client for it.
---`terraform.init(workdir) or { workdir, upgrade, reconfigure, backend, backend_config } -> client | { success = false, error }`
---@param options any
---@return any # client | { success = false, error }
function terraform.init(options) end

---Writes values into a file of variables that only its owner can read. One that says the same stays as it is.
---`terraform.create_tfvars(file, values[, { workdir }]) -> { filename, full_path, content, changed, success }`
---@param file any
---@param values any
---@param options? any
---@return any # { filename, full_path, content, changed, success }
function terraform.create_tfvars(file, values, options) end

---An output as text, or all of them as a table. `client:output{ name, json }` gives a result.
---`terraform.output{ workdir, name } -> text or table | nil, error`
---@param options any
---@return any # text or table | nil, error
function terraform.output(options) end

---Says what would change. With `out` the plan is kept for `apply`.
---`terraform.plan([{ workdir, out, destroy, refresh, refresh_only, var_file, vars, target, detailed_exitcode }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.plan(options) end

---Makes it so. It needs a kept plan, or `auto_approve`.
---`terraform.apply([{ workdir, plan, auto_approve, var_file, vars, target, replace, parallelism }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.apply(options) end

---Destroys everything that the files describe.
---`terraform.destroy([{ workdir, auto_approve, var_file, vars, target }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.destroy(options) end

---Brings the state to what is there.
---`terraform.refresh([{ workdir, var_file, vars }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.refresh(options) end

---Looks for mistakes; `data` has the diagnostics.
---`terraform.validate([{ workdir }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.validate(options) end

---Lays files out; with `check` it only says which are not.
---`terraform.fmt([{ workdir, check, diff, recursive }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.fmt(options) end

---The state, or a kept plan; `data` has it as a table.
---`terraform.show([{ workdir, plan }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.show(options) end

---Gets modules.
---`terraform.get([{ workdir, update }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.get(options) end

---Providers that are needed.
---`terraform.providers([{ workdir }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.providers(options) end

---What depends on what, in the language of Graphviz.
---`terraform.graph([{ workdir, type, plan }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.graph(options) end

---Takes something that is there into the state.
---`terraform.import(address, id[, { workdir, var_file, vars }]) -> result, error`
---@param address any
---@param id any
---@param options? any
---@return any # result, error
function terraform.import(address, id, options) end

---Has something made anew by the next apply.
---`terraform.taint(address[, { workdir, allow_missing }]) -> result, error`
---@param address any
---@param options? any
---@return any # result, error
function terraform.taint(address, options) end

---Takes that back.
---`terraform.untaint(address[, { workdir, allow_missing }]) -> result, error`
---@param address any
---@param options? any
---@return any # result, error
function terraform.untaint(address, options) end

---Releases a lock that was left behind.
---`terraform.force_unlock(lock_id[, { workdir }]) -> result, error`
---@param lock_id any
---@param options? any
---@return any # result, error
function terraform.force_unlock(lock_id, options) end

---The version; `data.terraform_version`.
---`terraform.version() -> result, error`
---@return any # result, error
function terraform.version() end

---Addresses of everything in the state.
---`terraform.state_list([{ workdir, id }]) -> list | nil, error`
---@param options? any
---@return any # list | nil, error
function terraform.state_list(options) end

---One thing in the state.
---`terraform.state_show(address[, { workdir }]) -> result, error`
---@param address any
---@param options? any
---@return any # result, error
function terraform.state_show(address, options) end

---Gives something in the state another address.
---`terraform.state_mv(from, to[, { workdir }]) -> result, error`
---@param from any
---@param to any
---@param options? any
---@return any # result, error
function terraform.state_mv(from, to, options) end

---Forgets something, which stays where it is.
---`terraform.state_rm(address[, { workdir }]) -> result, error`
---@param address any
---@param options? any
---@return any # result, error
function terraform.state_rm(address, options) end

---The state as JSON, in `data`.
---`terraform.state_pull([{ workdir }]) -> result, error`
---@param options? any
---@return any # result, error
function terraform.state_pull(options) end

---Replaces the state by that in a file.
---`terraform.state_push(file[, { workdir, force }]) -> result, error`
---@param file any
---@param options? any
---@return any # result, error
function terraform.state_push(file, options) end

---Workspaces; the current one has a star before it.
---`terraform.workspace_list([{ workdir }]) -> list | nil, error`
---@param options? any
---@return any # list | nil, error
function terraform.workspace_list(options) end

---The current workspace.
---`terraform.workspace_show([{ workdir }]) -> text | nil, error`
---@param options? any
---@return any # text | nil, error
function terraform.workspace_show(options) end

---Makes a workspace and goes to it.
---`terraform.workspace_new(name[, { workdir }]) -> result, error`
---@param name any
---@param options? any
---@return any # result, error
function terraform.workspace_new(name, options) end

---Goes to a workspace; with `create` it is made where it is not there.
---`terraform.workspace_select(name[, { workdir, create }]) -> result, error`
---@param name any
---@param options? any
---@return any # result, error
function terraform.workspace_select(name, options) end

---Deletes a workspace.
---`terraform.workspace_delete(name[, { workdir, force }]) -> result, error`
---@param name any
---@param options? any
---@return any # result, error
function terraform.workspace_delete(name, options) end

---Runs terraform with a list of words.
---`terraform.exec(args[, { workdir }]) -> result, error`
---@param args any
---@param options? any
---@return any # result, error
function terraform.exec(args, options) end

---Tests of workflows. A file that calls `test.describe` at its top is a test: what it defines or imports is not carried out, but is there for `test.run_task`. The functions of `test.assert` are those of `assert`, too, where a file says `assert.equals`.
---@class hostler.test
test = {}

---Tests that belong together.
---`test.describe(name, function)`
---@param name any
---@param function_ any
function test.describe(name, function_) end

---A test: it has failed when the function raises an error. Mocks end with it.
---`test.it([name, ]function) -> boolean`
---@param name? any
---@param function_ any
---@return any # boolean
function test.it(name, function_) end

---Carries out a task by its name, without what it depends on and without conditions; the outputs of tasks that were run before are its `deps`.
---`test.run_task(name) -> { success, message, output, duration, error, changed }`
---@param name any
---@return any # { success, message, output, duration, error, changed }
function test.run_task(name) end

---Lets a function of a module, as `exec.run`, give what is in the list `returns`, until the test ends. Functions in tables of a module (`aws.s3.sync`) and methods cannot be mocked.
---`test.mock(function, { returns })`
---@param function_ any
---@param options any
function test.mock(function_, options) end

---Moments as seconds since 1970. Where a moment is left out, now is meant; spans are seconds or texts as `1h30m`. Layouts are those of Go (`2006-01-02 15:04:05`), by their names (`RFC3339`, `DateTime`, ..), or, with a `%` in them, those of `os.date`. `time.local` and `time.until` are words of the language: write `time['local'](..)`.
---@class hostler.time
time = {}

---Now, in whole seconds.
---`time.now() -> seconds`
---@return any # seconds
function time.now() end

---A moment of its seconds and nanoseconds.
---`time.unix([seconds[, nanoseconds]]) -> seconds`
---@param seconds? any
---@param nanoseconds? any
---@return any # seconds
function time.unix(seconds, nanoseconds) end

---Nanoseconds since 1970, as near as a number can be.
---`time.unix_nano([moment]) -> nanoseconds`
---@param moment? any
---@return any # nanoseconds
function time.unix_nano(moment) end

---A moment as a layout says.
---`time.format(moment, layout[, zone]) -> text | nil, error`
---@param moment any
---@param layout any
---@param zone? any
---@return any # text | nil, error
function time.format(moment, layout, zone) end

---The moment of a text that is written as a layout says.
---`time.parse(text, layout[, zone]) -> moment | nil, error`
---@param text any
---@param layout any
---@param zone? any
---@return any # moment | nil, error
function time.parse(text, layout, zone) end

---A moment as RFC 3339 has it, in UTC.
---`time.rfc3339([moment]) -> text`
---@param moment? any
---@return any # text
function time.rfc3339(moment) end

---A moment and a span later.
---`time.add(moment, span) -> moment`
---@param moment any
---@param span any
---@return any # moment
function time.add(moment, span) end

---The seconds from another moment to this one; a text is a span that is taken off.
---`time.sub(moment, other) -> seconds`
---@param moment any
---@param other any
---@return any # seconds
function time.sub(moment, other) end

---The seconds of a span.
---`time.duration(text) -> seconds | nil, error`
---@param text any
---@return any # seconds | nil, error
function time.duration(text) end

---The seconds since a moment.
---`time.since(moment) -> seconds`
---@param moment any
---@return any # seconds
function time.since(moment) end

---The seconds until a moment.
---`time.until(moment) -> seconds`
---@param moment any
---@return any # seconds
function time.until(moment) end

---Waits; other steps go on.
---`time.sleep(span)`
---@param span any
function time.sleep(span) end

---The year.
---`time.year([moment]) -> number`
---@param moment? any
---@return any # number
function time.year(moment) end

---The month, from 1.
---`time.month([moment]) -> number`
---@param moment? any
---@return any # number
function time.month(moment) end

---The day of the month.
---`time.day([moment]) -> number`
---@param moment? any
---@return any # number
function time.day(moment) end

---The hour, from 0.
---`time.hour([moment]) -> number`
---@param moment? any
---@return any # number
function time.hour(moment) end

---The minute, from 0.
---`time.minute([moment]) -> number`
---@param moment? any
---@return any # number
function time.minute(moment) end

---The second, from 0.
---`time.second([moment]) -> number`
---@param moment? any
---@return any # number
function time.second(moment) end

---The day of the week: 0 is Sunday.
---`time.weekday([moment]) -> number, name`
---@param moment? any
---@return any # number, name
function time.weekday(moment) end

---A moment in UTC, as RFC 3339 has it.
---`time.utc([moment]) -> text`
---@param moment? any
---@return any # text
function time.utc(moment) end

---A moment in the zone of the step, as RFC 3339 has it.
---`time.local([moment]) -> text`
---@param moment? any
---@return any # text
function time.local(moment) end

---A moment in another zone, as RFC 3339 has it.
---`time.in_location(moment, zone) -> text | nil, error`
---@param moment any
---@param zone any
---@return any # text | nil, error
function time.in_location(moment, zone) end

---Whether a moment is before another.
---`time.before(a, b) -> boolean`
---@param a any
---@param b any
---@return any # boolean
function time.before(a, b) end

---Whether a moment is after another.
---`time.after(a, b) -> boolean`
---@param a any
---@param b any
---@return any # boolean
function time.after(a, b) end

---Whether two moments are the same.
---`time.equal(a, b) -> boolean`
---@param a any
---@param b any
---@return any # boolean
function time.equal(a, b) end

---The last moment before that is a multiple of the span.
---`time.truncate(moment, span) -> moment`
---@param moment any
---@param span any
---@return any # moment
function time.truncate(moment, span) end

---The nearest moment that is a multiple of the span.
---`time.round(moment, span) -> moment`
---@param moment any
---@param span any
---@return any # moment
function time.round(moment, span) end

---TOML, as in `data`.
---@class hostler.toml
toml = {}

---The same as `data.toml_encode`.
---`toml.encode(table) -> text | nil, error`
---@param table any
---@return any # text | nil, error
function toml.encode(table) end

---The same as `data.toml_decode`.
---`toml.decode(text) -> value | nil, error`
---@param text any
---@return any # value | nil, error
function toml.decode(text) end

---Users and groups of the machine. What is so already is not touched. Passwords are given to the machine's own program on its standard input, and are in no message or diff.
---@class hostler.user
user = {}

---Makes a user be there, with what is told about it; what is not told is left alone. A plain password is set only when the user is made; a crypt hash whenever it differs.
---`user.create{ username, password, uid, gid, home, shell, groups, comment, system, create_home, no_create_home, expiry } | (username[, options]) -> result, result | nil, error`
---@param options any
---@return any # result, result | nil, error
function user.create(options) end

---Makes a user not be there; its home is kept unless `remove_home` is true.
---`user.delete(username[, remove_home]) | { username, remove_home } -> result, result | nil, error`
---@param username any
---@param remove_home? any
---@param options any
---@return any # result, result | nil, error
function user.delete(username, remove_home, options) end

---Changes a user that must be there.
---`user.modify(username, { uid, gid, home, move_home, shell, groups, comment, expiry, lock, unlock }) -> result, result | nil, error`
---@param username any
---@param options any
---@return any # result, result | nil, error
function user.modify(username, options) end

---Whether there is such a user.
---`user.exists(username) -> boolean, message`
---@param username any
---@return any # boolean, message
function user.exists(username) end

---What is known about a user.
---`user.get_info(username) -> { username, uid, gid, name, home, shell, comment } | nil, error`
---@param username any
---@return any # { username, uid, gid, name, home, shell, comment } | nil, error
function user.get_info(username) end

---All users; those of the machine itself with `true`, people with `false`.
---`user.list([system]) -> users | nil, error`
---@param system? any
---@return any # users | nil, error
function user.list(system) end

---Makes the password of a user not count. Keys may still let somebody in.
---`user.lock(username) -> result, result | nil, error`
---@param username any
---@return any # result, result | nil, error
function user.lock(username) end

---Makes the password of a user count again.
---`user.unlock(username) -> result, result | nil, error`
---@param username any
---@return any # result, result | nil, error
function user.unlock(username) end

---Whether the password of a user is locked.
---`user.is_locked(username) -> boolean | nil, error`
---@param username any
---@return any # boolean | nil, error
function user.is_locked(username) end

---Sets a password, plain or as a crypt hash. A hash that is there already is no change, a plain one always is.
---`user.set_password(username, password) -> result, result | nil, error`
---@param username any
---@param password any
---@return any # result, result | nil, error
function user.set_password(username, password) end

---Makes a user choose a new password at the next login.
---`user.expire_password(username) -> result, result | nil, error`
---@param username any
---@return any # result, result | nil, error
function user.expire_password(username) end

---Gives a user another shell.
---`user.set_shell(username, shell) -> result, result | nil, error`
---@param username any
---@param shell any
---@return any # result, result | nil, error
function user.set_shell(username, shell) end

---Gives a user another home, and moves what is in the old one when `move` is true.
---`user.set_home(username, home[, move]) -> result, result | nil, error`
---@param username any
---@param home any
---@param move? any
---@return any # result, result | nil, error
function user.set_home(username, home, move) end

---Sets the comment, which begins with the name of the person.
---`user.set_comment(username, comment) -> result, result | nil, error`
---@param username any
---@param comment any
---@return any # result, result | nil, error
function user.set_comment(username, comment) end

---Ends an account on a day, `YYYY-MM-DD`, or `never`.
---`user.set_expiry(username, date) -> result, result | nil, error`
---@param username any
---@param date any
---@return any # result, result | nil, error
function user.set_expiry(username, date) end

---Gives a user another primary group.
---`user.set_primary_group(username, group) -> result, result | nil, error`
---@param username any
---@param group any
---@return any # result, result | nil, error
function user.set_primary_group(username, group) end

---The number of a user.
---`user.get_uid(username) -> number | nil, error`
---@param username any
---@return any # number | nil, error
function user.get_uid(username) end

---The number of a user's primary group.
---`user.get_gid(username) -> number | nil, error`
---@param username any
---@return any # number | nil, error
function user.get_gid(username) end

---The home of a user.
---`user.get_home(username) -> path | nil, error`
---@param username any
---@return any # path | nil, error
function user.get_home(username) end

---The shell of a user.
---`user.get_shell(username) -> path | nil, error`
---@param username any
---@return any # path | nil, error
function user.get_shell(username) end

---The comment of a user.
---`user.get_comment(username) -> text | nil, error`
---@param username any
---@return any # text | nil, error
function user.get_comment(username) end

---All groups a user is in, the primary one first.
---`user.get_groups(username) -> names | nil, error`
---@param username any
---@return any # names | nil, error
function user.get_groups(username) end

---Whether a user is one of the machine's own.
---`user.is_system_user(username) -> boolean | nil, error`
---@param username any
---@return any # boolean | nil, error
function user.is_system_user(username) end

---Who the step runs as.
---`user.get_current() -> user | nil, error`
---@return any # user | nil, error
function user.get_current() end

---Whether the step has the rights of root.
---`user.is_root() -> boolean`
---@return any # boolean
function user.is_root() end

---When and from where somebody logged in last, in the machine's own words.
---`user.get_last_login(username) -> text | nil, error`
---@param username any
---@return any # text | nil, error
function user.get_last_login(username) end

---Logins of somebody that failed, as far as the machine remembers.
---`user.get_failed_logins(username) -> { count, lines } | nil, error`
---@param username any
---@return any # { count, lines } | nil, error
function user.get_failed_logins(username) end

---Whether a new user can have this name everywhere.
---`user.validate_username(username) -> boolean, message`
---@param username any
---@return any # boolean, message
function user.validate_username(username) end

---Runs a line of shell, or a list of a program and its arguments, as somebody else. The result is that of `exec.run`.
---`user.run_as(username, command) -> true, result | nil, error`
---@param username any
---@param command any
---@return any # true, result | nil, error
function user.run_as(username, command) end

---Puts a user into a group.
---`user.add_to_group(username, group) -> result, result | nil, error`
---@param username any
---@param group any
---@return any # result, result | nil, error
function user.add_to_group(username, group) end

---Takes a user out of a group.
---`user.remove_from_group(username, group) -> result, result | nil, error`
---@param username any
---@param group any
---@return any # result, result | nil, error
function user.remove_from_group(username, group) end

---Makes a group be there.
---`user.group_create(group[, { gid, system }]) -> result, result | nil, error`
---@param group any
---@param options? any
---@return any # result, result | nil, error
function user.group_create(group, options) end

---Makes a group not be there.
---`user.group_delete(group) -> result, result | nil, error`
---@param group any
---@return any # result, result | nil, error
function user.group_delete(group) end

---Whether there is such a group.
---`user.group_exists(group) -> boolean, message`
---@param group any
---@return any # boolean, message
function user.group_exists(group) end

---What is known about a group.
---`user.group_get_info(group) -> { name, gid, members } | nil, error`
---@param group any
---@return any # { name, gid, members } | nil, error
function user.group_get_info(group) end

---All groups.
---`user.group_list() -> groups | nil, error`
---@return any # groups | nil, error
function user.group_list() end

---The number of a group.
---`user.group_get_gid(group) -> number | nil, error`
---@param group any
---@return any # number | nil, error
function user.group_get_gid(group) end

---Everybody in a group, those included whose primary group it is.
---`user.group_members(group) -> names | nil, error`
---@param group any
---@return any # names | nil, error
function user.group_members(group) end

---Puts a user into a group.
---`user.group_add_member(group, username) -> result, result | nil, error`
---@param group any
---@param username any
---@return any # result, result | nil, error
function user.group_add_member(group, username) end

---Takes a user out of a group.
---`user.group_remove_member(group, username) -> result, result | nil, error`
---@param group any
---@param username any
---@return any # result, result | nil, error
function user.group_remove_member(group, username) end

---What is to be watched on a machine from now on; when its condition holds, an event is told. Every function of `register` takes a table with `when` (one condition or a list of them), `interval` (5s unless told otherwise) and what it is about, and gives the id of the watcher. The same watcher registered twice is one.
---@class hostler.watcher
watcher = {}

---What is watched.
---`watcher.list() -> { { id, kind, when, interval, ... } }`
---@return any # { { id, kind, when, interval, ... } }
function watcher.list() end

---Watches something no longer; false when it was not watched.
---`watcher.remove(id) -> boolean`
---@param id any
---@return any # boolean
function watcher.remove(id) end

---The directory in which the step works, and directories below it.
---@class hostler.workdir
workdir = {}

---The directory in which the step works.
---`workdir.get() -> path`
---@return any # path
function workdir.get() end

---Whether it is there, or a directory of that path.
---`workdir.exists([path]) -> boolean`
---@param path? any
---@return any # boolean
function workdir.exists(path) end

---Makes it, or a directory of that path, with those above it.
---`workdir.create([path]) -> true | false, error`
---@param path? any
---@return any # true | false, error
function workdir.create(path) end

---Removes what is in it, or a directory of that path with everything in it. What the machine needs (`/`, `/etc`, homes) and the directory in which the execution was started are refused.
---`workdir.cleanup([path]) -> true | false, error`
---@param path? any
---@return any # true | false, error
function workdir.cleanup(path) end

---YAML, as in `data`.
---@class hostler.yaml
yaml = {}

---The same as `data.yaml_encode`.
---`yaml.encode(table) -> text | nil, error`
---@param table any
---@return any # text | nil, error
function yaml.encode(table) end

---The same as `data.yaml_decode`.
---`yaml.decode(text) -> value | nil, error`
---@param text any
---@return any # value | nil, error
function yaml.decode(text) end
