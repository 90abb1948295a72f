-- A filled database of preliminary schema version 14, without its application id and version: two sweeps with experts,
-- curricula, scores, a baseline, verdicts, a benchmark, an attempt that a kill left running, and a hash of an older program.
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('checkpoint','log','config','plot','profile','eval_items','report','other')),
  path TEXT NOT NULL,
  present INTEGER NOT NULL DEFAULT 1, UNIQUE (sha256, path)
) STRICT;
INSERT INTO "artifact" VALUES(1,'51e7d1faf52588a14c0e7a6bc6d3d50087cde7d48fa1cc58a4032af6159098c4',46424,'checkpoint','checkpoints/f6a29adb8c1c0d3f/step_00000016/model.safetensors',1);
INSERT INTO "artifact" VALUES(2,'439464a33da7e7e30c9b3e1f79c1baf5d3d8ece911fe76818c001b91fc10353d',46424,'checkpoint','checkpoints/5b84b5a699e93e59/step_00000020/model.safetensors',1);
INSERT INTO "artifact" VALUES(3,'b98cdd7839e19fd157d2ae524baa13b46e7b417f3ffbb00c55cdebff919014d0',55200,'checkpoint','checkpoints/33a4ab812f77f653/step_00000016/model.safetensors',1);
INSERT INTO "artifact" VALUES(4,'c9f56531472a1f47e5cca330f2726ca55cf0d78999efe8a1020cd2f0094e77bc',46424,'checkpoint','checkpoints/8d54d1e262d90680/step_00000016/model.safetensors',1);
INSERT INTO "artifact" VALUES(5,'8815e18faa77c69457a415604c29a4f25ca1641557d4c648715dcacf6a4dd070',46424,'checkpoint','checkpoints/6244a57d05a97ae7/step_00000016/model.safetensors',1);
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  number INTEGER NOT NULL CHECK (number > 0),
  state TEXT NOT NULL
    CHECK (state IN ('leased','running','ok','failed','timeout','preempted','stale','cancelled')),
  fail_class TEXT CHECK (fail_class IN
    ('config','nan','oom_host','oom_gpu','timeout','preempt','crash','io','stale','user','other')),
  code_id INTEGER NOT NULL REFERENCES code(id),
  host_id INTEGER NOT NULL REFERENCES host(id),
  dataset_id INTEGER REFERENCES dataset(id),
  worker TEXT NOT NULL,
  pid INTEGER, pid_start_ticks INTEGER, boot_id TEXT,
  slots_json TEXT NOT NULL DEFAULT '{}',
  argv_json TEXT NOT NULL,
  workdir TEXT NOT NULL,
  spool_bytes INTEGER NOT NULL DEFAULT 0, spool_lines INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER,
  exit_code INTEGER, term_signal INTEGER, error TEXT,
  resumed_from INTEGER REFERENCES attempt(id), resume_step INTEGER,
  total_steps INTEGER, parameters INTEGER, threads INTEGER,
  train_seconds REAL, eval_seconds REAL, cpu_seconds REAL, peak_rss_bytes INTEGER, device TEXT NOT NULL DEFAULT 'cpu' CHECK (device IN ('cpu','cuda')), devices INTEGER NOT NULL DEFAULT 1 CHECK (devices > 0), trials_per_device INTEGER NOT NULL DEFAULT 1 CHECK (trials_per_device > 0), own_seconds REAL CHECK (own_seconds >= 0), sku TEXT, usd_per_hour REAL CHECK (usd_per_hour >= 0), price_source TEXT, price_date_ms INTEGER, device_seconds REAL
  GENERATED ALWAYS AS (own_seconds * devices / trials_per_device) VIRTUAL, usd REAL
  GENERATED ALWAYS AS (own_seconds * devices / trials_per_device / 3600.0 * usd_per_hour) VIRTUAL, libraries_json TEXT NOT NULL DEFAULT '{}', machine_json TEXT NOT NULL DEFAULT '{}', epochs_json TEXT, kind TEXT NOT NULL DEFAULT 'train' CHECK (kind IN ('train','score')), start_note TEXT NOT NULL DEFAULT '', active_parameters INTEGER NOT NULL DEFAULT 0 CHECK (active_parameters >= 0), ranks INTEGER NOT NULL DEFAULT 1 CHECK (ranks > 0), held_seconds REAL CHECK (held_seconds >= 0), waited_seconds REAL CHECK (waited_seconds >= 0),
  UNIQUE (experiment_id, number),
  CHECK ((state IN ('leased','running')) = (ended_ms IS NULL))
) STRICT;
INSERT INTO "attempt" VALUES(1,'6ff34fa6c656967386c95719d6530d47-1',1,1,'ok',NULL,1,1,1,'6ff34fa6c656967386c95719d6530d47/0',9761,76673,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/f6a29adb8c1c.1"]','runs/f6a29adb8c1c.1',3529,13,1795829217189,1795829217189,1795829217326,0,NULL,NULL,NULL,0,16,10960,1,0.081420132,0.0,0.067852,40030208,'cpu',1,1,0.081420132,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}','[0.08333333333333333,0.2,0.08333333333333333,0.2,0.14285714285714285,0.16666666666666666,0.2,0.2222222222222222,0.3142857142857143,0.2]','train','',0,1,0.13564912,0.0);
INSERT INTO "attempt" VALUES(2,'6ff34fa6c656967386c95719d6530d47-2',1,2,'ok',NULL,1,1,NULL,'6ff34fa6c656967386c95719d6530d47/0',9762,76687,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/f6a29adb8c1c.2"]','runs/f6a29adb8c1c.2',4343,12,1795829217332,1795829217332,1795829217460,0,NULL,NULL,1,16,16,10960,1,0.0,0.081613089,0.061334,34336768,'cpu',1,1,0.0,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}',NULL,'score','',0,1,0.126123735,0.0);
INSERT INTO "attempt" VALUES(3,'6ff34fa6c656967386c95719d6530d47-3',3,1,'ok',NULL,1,1,1,'6ff34fa6c656967386c95719d6530d47/0',9763,76701,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/5b84b5a699e9.1"]','runs/5b84b5a699e9.1',4156,15,1795829217466,1795829217467,1795829217595,0,NULL,NULL,NULL,0,20,10960,1,0.083481799,0.0,0.06347,40570880,'cpu',1,1,0.083481799,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}','[0.1388888888888889,0.2,0.1388888888888889,0.22857142857142856,0.17142857142857143,0.19444444444444445,0.37142857142857144,0.2777777777777778,0.3142857142857143,0.22857142857142856]','train','',0,1,0.126400321,0.0);
INSERT INTO "attempt" VALUES(4,'6ff34fa6c656967386c95719d6530d47-4',3,2,'ok',NULL,1,1,NULL,'6ff34fa6c656967386c95719d6530d47/0',9764,76714,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/5b84b5a699e9.2"]','runs/5b84b5a699e9.2',4349,12,1795829217600,1795829217601,1795829217734,0,NULL,NULL,3,20,20,10960,1,0.0,0.088127164,0.064118,34574336,'cpu',1,1,0.0,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}',NULL,'score','',0,1,0.128011768,0.0);
INSERT INTO "attempt" VALUES(5,'6ff34fa6c656967386c95719d6530d47-5',2,1,'ok',NULL,1,1,1,'6ff34fa6c656967386c95719d6530d47/0',9765,76728,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/33a4ab812f77.1"]','runs/33a4ab812f77.1',4609,17,1795829217736,1795829217737,1795829217863,0,NULL,NULL,NULL,0,16,13120,1,0.079715658,0.0,6.19649999999999923083e-02,39862272,'cpu',1,1,0.079715658,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}','[0.08333333333333333,0.2,0.08333333333333333,0.2,0.14285714285714285,0.16666666666666666,0.2,0.2222222222222222,0.3142857142857143,0.2]','train','',10992,1,0.1250106,0.0);
INSERT INTO "attempt" VALUES(6,'6ff34fa6c656967386c95719d6530d47-6',2,2,'ok',NULL,1,1,NULL,'6ff34fa6c656967386c95719d6530d47/0',9766,76741,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/33a4ab812f77.2"]','runs/33a4ab812f77.2',4359,12,1795829217870,1795829217871,1795829217994,0,NULL,NULL,5,16,16,13120,1,0.0,0.081298124,0.059368,34291712,'cpu',1,1,0.0,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}',NULL,'score','',0,1,0.117675726,0.0);
INSERT INTO "attempt" VALUES(7,'6ff34fa6c656967386c95719d6530d47-7',5,1,'ok',NULL,1,1,1,'6ff34fa6c656967386c95719d6530d47/0',9767,76754,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/8d54d1e262d9.1"]','runs/8d54d1e262d9.1',3540,13,1795829217996,1795829217996,1795829218118,0,NULL,NULL,NULL,0,16,10960,1,0.077705535,0.0,6.05069999999999913464e-02,39776256,'cpu',1,1,0.077705535,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}','[0.08333333333333333,0.2,0.08333333333333333,0.2,0.14285714285714285,0.16666666666666666,0.2,0.2222222222222222,0.3142857142857143,0.2]','train','',0,1,0.120123566,0.0);
INSERT INTO "attempt" VALUES(8,'6ff34fa6c656967386c95719d6530d47-8',5,2,'ok',NULL,1,1,NULL,'6ff34fa6c656967386c95719d6530d47/0',9768,76767,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/8d54d1e262d9.2"]','runs/8d54d1e262d9.2',4357,12,1795829218124,1795829218124,1795829218269,0,NULL,NULL,7,16,16,10960,1,0.0,9.74660649999999906256e-02,0.0716,34504704,'cpu',1,1,0.0,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}',NULL,'score','',0,1,0.143053396,0.0);
INSERT INTO "attempt" VALUES(9,'6ff34fa6c656967386c95719d6530d47-9',4,1,'ok',NULL,1,1,1,'6ff34fa6c656967386c95719d6530d47/0',9769,76782,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/6244a57d05a9.1"]','runs/6244a57d05a9.1',3449,13,1795829218276,1795829218276,1795829218404,0,NULL,NULL,NULL,0,16,10960,1,0.078666522,0.0,0.063447,39845888,'cpu',1,1,0.078666522,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}','[0.19444444444444445,0.34285714285714286,0.2222222222222222,0.2571428571428571,0.17142857142857143,0.1388888888888889,0.14285714285714285,0.1111111111111111,0.11428571428571428,0.11428571428571428]','train','',0,1,0.127139228,0.0);
INSERT INTO "attempt" VALUES(10,'6ff34fa6c656967386c95719d6530d47-10',4,2,'ok',NULL,1,1,NULL,'6ff34fa6c656967386c95719d6530d47/0',9770,76795,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/6244a57d05a9.2"]','runs/6244a57d05a9.2',4363,12,1795829218412,1795829218412,1795829218544,0,NULL,NULL,9,16,16,10960,1,0.0,0.080342447,0.06453,33947648,'cpu',1,1,0.0,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}',NULL,'score','',0,1,0.129132693,0.0);
INSERT INTO "attempt" VALUES(11,'224e93bb50b3fc4933e6a05806bf409e-1',10,1,'running',NULL,1,1,1,'224e93bb50b3fc4933e6a05806bf409e/0',9961,79603,'0fc8d38c-73ec-4679-993f-6fabfadb8e77','{"device":"cpu","slot":0,"threads":1}','["/proc/self/exe","trial","deft-runs/runs/f98730a682f2.1"]','runs/f98730a682f2.1',574740,1890,1795829246489,1795829246490,NULL,NULL,NULL,NULL,NULL,0,9375,10960,NULL,NULL,NULL,NULL,NULL,'cpu',1,1,NULL,'core',0.04,'a test',1795132800000,'{"OpenMP":"libgomp.so.1.0.0 (201511)","OpenSSL":"3.0.19","SQLite":"3.40.1","compiler":"GNU 12.2.0","fmt":"9.1.0","libc":"glibc 2.36","oneDNN":"2.6.3","zlib":"1.2.13","zstd":"1.5.4"}','{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"}','[42.80555555555556,42.714285714285715,42.583333333333336,42.628571428571426,42.6,42.666666666666664,42.68571428571428,42.69444444444444,42.57142857142857,42.714285714285715]','train','',0,1,NULL,NULL);
CREATE TABLE attempt_artifact (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  artifact_id INTEGER NOT NULL REFERENCES artifact(id),
  role TEXT NOT NULL, step INTEGER NOT NULL DEFAULT -1,
  PRIMARY KEY (attempt_id, role, step, artifact_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "attempt_artifact" VALUES(1,1,'final',16);
INSERT INTO "attempt_artifact" VALUES(3,2,'final',20);
INSERT INTO "attempt_artifact" VALUES(5,3,'final',16);
INSERT INTO "attempt_artifact" VALUES(7,4,'final',16);
INSERT INTO "attempt_artifact" VALUES(9,5,'final',16);
CREATE TABLE baseline (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  variant TEXT NOT NULL,
  variant_hash TEXT NOT NULL,
  measure_json TEXT NOT NULL,
  center REAL NOT NULL,
  lo REAL NOT NULL, hi REAL NOT NULL,
  n INTEGER NOT NULL CHECK (n > 0),
  source_json TEXT NOT NULL,
  pinned_by TEXT NOT NULL, reason TEXT NOT NULL,
  created_ms INTEGER NOT NULL, retired_ms INTEGER
) STRICT;
INSERT INTO "baseline" VALUES(1,'first','baseline','1ed2c4125b1a16784de6879b658fffeda21680cf2e3e83a0df67c83fac6aaade','{"better":"higher","kind":"score","metric":"acc","shots":0,"split":"test","task":"embedded_questions","unit":""}',0.2,0.2,0.2,1,'{"seeds":[{"attempt":"6ff34fa6c656967386c95719d6530d47-1","score_key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","seed":1,"value":0.2}],"sweep":"tiny@78ad93a7c58d"}','root','a first one',1795829218710,NULL);
INSERT INTO "baseline" VALUES(2,'first','baseline','1ed2c4125b1a16784de6879b658fffeda21680cf2e3e83a0df67c83fac6aaade','{"better":"lower","kind":"score","metric":"gold_bits_per_byte","shots":0,"split":"test","task":"embedded_questions","unit":"bits/byte"}',9.07235224998353295688e+00,9.07235224998353295688e+00,9.07235224998353295688e+00,1,'{"seeds":[{"attempt":"6ff34fa6c656967386c95719d6530d47-1","score_key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","seed":1,"value":9.072352249983533}],"sweep":"tiny@78ad93a7c58d"}','root','a first one',1795829218710,NULL);
INSERT INTO "baseline" VALUES(3,'first','baseline','1ed2c4125b1a16784de6879b658fffeda21680cf2e3e83a0df67c83fac6aaade','{"better":"lower","kind":"score","metric":"bits_per_byte","shots":0,"split":"valid","task":"validation","unit":"bits/byte"}',7.68934894109692912422e+00,7.68934894109692912422e+00,7.68934894109692912422e+00,1,'{"seeds":[{"attempt":"6ff34fa6c656967386c95719d6530d47-1","score_key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","seed":1,"value":7.689348941096929}],"sweep":"tiny@78ad93a7c58d"}','root','a first one',1795829218710,NULL);
CREATE TABLE bench_case (
  id INTEGER PRIMARY KEY,
  case_hash TEXT NOT NULL UNIQUE,
  kernel TEXT NOT NULL,
  impl TEXT NOT NULL,
  params_json TEXT NOT NULL,
  version INTEGER NOT NULL,
  flops REAL NOT NULL, bytes REAL NOT NULL
) STRICT;
INSERT INTO "bench_case" VALUES(1,'d1dacaa6e6755e25494eb74a9b255e1e9bd8fffa9cf43e2d80f759d4c803be58','linear_forward','cpu','{"caches":"hot","case":"2048/128/384/bias","threads":2}',1,201326592.0,4392448.0);
INSERT INTO "bench_case" VALUES(2,'dfa25a9720065f55428087cfa402930fc7a8e845c23be1eb6e71b3343a9fe200','linear_forward','cpu','{"caches":"cold","case":"2048/128/384/bias","threads":2}',1,201326592.0,4392448.0);
CREATE TABLE bench_result (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES bench_session(id) ON DELETE CASCADE,
  case_id INTEGER NOT NULL REFERENCES bench_case(id),
  code_id INTEGER NOT NULL REFERENCES code(id),
  arm TEXT NOT NULL CHECK (arm IN ('A','B')),
  n INTEGER NOT NULL CHECK (n > 0),
  samples BLOB NOT NULL,
  min REAL NOT NULL, median REAL NOT NULL, mean REAL NOT NULL, mad REAL NOT NULL,
  verified INTEGER NOT NULL CHECK (verified IN (0,1)),
  UNIQUE (session_id, case_id, arm), CHECK (length(samples) = 8 * n)
) STRICT;
INSERT INTO "bench_result" VALUES(1,1,1,1,'A',2,X'0000D4A3FAE56B3F0000644F358C683F',2.99654399998416920425e-03,3.20105250000324303982e-03,3.20105250000324303982e-03,2.04508500019073835574e-04,1);
INSERT INTO "bench_result" VALUES(2,1,2,1,'A',2,X'0000BE9EBC83783F00002CC567487B3F',5.98500900002818525535e-03,6.32292849996929362532e-03,6.32292849996929362532e-03,3.37919499941108369966e-04,1);
CREATE TABLE bench_session (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  mode TEXT NOT NULL CHECK (mode IN ('single','ab','import')),
  host_id INTEGER NOT NULL REFERENCES host(id),
  started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,
  env_json TEXT NOT NULL,
  settings_json TEXT NOT NULL
) STRICT;
INSERT INTO "bench_session" VALUES(1,'06414918b9e68f93d1b7a5ac69548f10','single',1,1795829241939,1795829246293,'{"load":3.32666015625,"machine":{"extra":{"isa":["avx2","fma","avx512f"]},"hostname":"node1","kernel":"Linux 6.1.0-18","mem_bytes":25276510208,"os":"Debian GNU/Linux 12 (bookworm)"},"peaks":{"avx2_flops":163596254668.2447,"avx512_flops":329681085062.8712,"cached_read":83762916047.16414,"memory_copy":10098519641.208315,"memory_read":11654855353.650133,"memory_update":22368908324.380493}}','{"min_seconds":0.001,"repetitions":2,"threads":2}');
CREATE TABLE code (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  git_sha TEXT NOT NULL, git_branch TEXT NOT NULL,
  dirty INTEGER NOT NULL CHECK (dirty IN (0,1)),
  diff_sha256 TEXT NOT NULL, diff_zst BLOB,
  binary_sha256 TEXT NOT NULL,
  compiler TEXT NOT NULL, cxx_flags TEXT NOT NULL, build_type TEXT NOT NULL
) STRICT;
INSERT INTO "code" VALUES(1,'953f214e907999bf71cb4fd5b0635c47b197bf5faadacb8d2b00b223d8c7e848','ef7a349ae5b383325dd0224e99c25fd57694020f','main',0,'',NULL,'1acfbde8a375e13a9e01da63f0a994d7666cfd8af5d68f6f959539aba6f35e9d','GNU 12.2.0','-O3 -DNDEBUG -march=x86-64-v3 -fno-math-errno -fno-trapping-math','Release');
CREATE TABLE dataset (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL, name TEXT NOT NULL,
  n_bytes INTEGER, n_tokens INTEGER,
  UNIQUE (sha256, name)
) STRICT;
INSERT INTO "dataset" VALUES(1,'4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c','embedded corpus (seed 1)',5664,5673);
CREATE TABLE evaluation (
  id INTEGER PRIMARY KEY,
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  checkpoint_id INTEGER REFERENCES artifact(id), step INTEGER NOT NULL DEFAULT -1,
  code_id INTEGER NOT NULL REFERENCES code(id),
  task TEXT NOT NULL, task_version TEXT NOT NULL, split TEXT NOT NULL, shots INTEGER NOT NULL,
  metric_id INTEGER NOT NULL REFERENCES metric(id),
  value REAL, kind INTEGER NOT NULL DEFAULT 0 CHECK (kind IN (0,1,2,3)),
  n INTEGER NOT NULL CHECK (n >= 0),
  stderr REAL,
  chance REAL, score_key TEXT NOT NULL DEFAULT '',
  UNIQUE (attempt_id, step, task, task_version, split, shots, metric_id, code_id),
  CHECK ((kind = 0) = (value IS NOT NULL))
) STRICT;
INSERT INTO "evaluation" VALUES(1,2,NULL,16,1,'validation','1','valid',0,1,5.30209090063969323836e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(2,2,NULL,16,1,'validation','1','valid',0,2,7.68934894109692912422e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(3,2,NULL,16,1,'validation','1','valid',0,3,2.93463953988608405865e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(4,2,NULL,16,1,'embedded_questions','1','test',0,4,0.2,0,20,0.0917662935482247,0.25,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(5,2,NULL,16,1,'embedded_questions','1','test',0,5,9.07235224998353295688e+00,0,20,3.08522682909915905991e-02,NULL,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(6,4,NULL,20,1,'validation','1','valid',0,1,5.23966950674851705826e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(7,4,NULL,20,1,'validation','1','valid',0,2,7.59882241335275310234e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(8,4,NULL,20,1,'validation','1','valid',0,3,2.93463953988608405865e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(9,4,NULL,20,1,'embedded_questions','1','test',0,4,0.2,0,20,0.0917662935482247,0.25,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(10,4,NULL,20,1,'embedded_questions','1','test',0,5,8.97420444553099194706e+00,0,20,2.96723837216695505991e-02,NULL,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(11,6,NULL,16,1,'validation','1','valid',0,1,5.30989477535088827409e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(12,6,NULL,16,1,'validation','1','valid',0,2,7.70066649805162928288e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(13,6,NULL,16,1,'validation','1','valid',0,3,2.93463953988608405865e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(14,6,NULL,16,1,'embedded_questions','1','test',0,4,0.2,0,20,0.0917662935482247,0.25,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(15,6,NULL,16,1,'embedded_questions','1','test',0,5,9.08564329052655494933e+00,0,20,3.15337481255057935913e-02,NULL,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(16,8,NULL,16,1,'validation','1','valid',0,1,4.72862733403841684065e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(17,8,NULL,16,1,'validation','1','valid',0,2,6.85768431081471696586e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(18,8,NULL,16,1,'validation','1','valid',0,3,2.93463953988608405865e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(19,8,NULL,16,1,'embedded_questions','1','test',0,4,0.3,0,20,1.05131496607569333012e-01,0.25,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(20,8,NULL,16,1,'embedded_questions','1','test',0,5,8.06642765931851357663e+00,0,20,2.52920899712665604719e-02,NULL,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(21,10,NULL,16,1,'validation','1','valid',0,1,5.31029567122459411621e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(22,10,NULL,16,1,'validation','1','valid',0,2,7.70124789665828046736e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(23,10,NULL,16,1,'validation','1','valid',0,3,2.93463953988608405865e+00,0,192,NULL,NULL,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a');
INSERT INTO "evaluation" VALUES(24,10,NULL,16,1,'embedded_questions','1','test',0,4,0.25,0,20,9.93399267798782820149e-02,0.25,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
INSERT INTO "evaluation" VALUES(25,10,NULL,16,1,'embedded_questions','1','test',0,5,9.09476472979416,0,20,3.25282621801013804851e-02,NULL,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438');
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY,
  config_hash TEXT NOT NULL UNIQUE,
  variant_hash TEXT NOT NULL,
  seed INTEGER NOT NULL,
  config_json TEXT NOT NULL,
  label TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "experiment" VALUES(1,'f6a29adb8c1c0d3f4757e3a8bc768f03d8f67342e24f7c0ad338193f1e7a27b6','1ed2c4125b1a16784de6879b658fffeda21680cf2e3e83a0df67c83fac6aaade',1,'{"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":1024,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.001,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','baseline',1795829217155);
INSERT INTO "experiment" VALUES(2,'33a4ab812f77f653dd57d987821eb26e2fdd8d70850b7a67851c2da0a32b5a0d','87b7ea21340e5f3b34c03ebb7c593fa396de80d8bcb8b4ca477d7e29548392a9',1,'{"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"experts":{"aux_weight":0.01,"capacity_factor":1.0,"count":[2],"jitter":0.0,"layers":[1],"min_capacity":4,"random_token_selection":true,"residual":false,"sampled_noise":false,"top":1,"z_weight":0.0},"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":1024,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.001,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','moe',1795829217155);
INSERT INTO "experiment" VALUES(3,'5b84b5a699e93e59ecab2dfe8c4d6d439c3b648fbc4274c5c485d363e496efb5','c40ebf83e737938a77ad8b7056e450ac1692d8f5bfae71c2ac00a85aaa6ef081',1,'{"curriculum":{"seqtru":{"difficulty":"value","difficulty_step":8,"max":16,"min":8,"pacing":"linear","steps":8}},"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":1024,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.001,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','cl',1795829217156);
INSERT INTO "experiment" VALUES(4,'6244a57d05a97ae7d597520910041871855b65ab00a1b0aee913fa23e5f81578','cbe019ce50b3a05b0579c708973fe64140241b95cf2c2dee23ad8e7baec68456',1,'{"curriculum":{"voc":{"difficulty":"percentile","difficulty_step":1,"max":100,"min":20,"pacing":"linear","steps":8}},"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":1024,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.001,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','voc',1795829217156);
INSERT INTO "experiment" VALUES(5,'8d54d1e262d906803b0d649d104e3d3786b695e9fb48e26269b059537fb39cdf','688c6e82d8b3d6e94adfcbcd413c8ca71f029ec0ae4e0424732cc1e98d1f0018',1,'{"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":1024,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.004,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','later',1795829217157);
INSERT INTO "experiment" VALUES(6,'5f96e816a5534befb26361513e9904ad67a1206011e32a0a9d70e60ef88e1aac','383752db1240950bf61d4bbac8fc3cd9642c5080aaf905b1881da4ce005e8014',1,'{"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":600000,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.001,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','baseline',1795829246459);
INSERT INTO "experiment" VALUES(7,'11c0618ec173d60be8a21d9711bdbaf18909746a160fbed8c234f31a96849e35','212e67eded14585a1fd61b2cf700730454b8aed8e4039570bca6c588f336ebda',1,'{"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"experts":{"aux_weight":0.01,"capacity_factor":1.0,"count":[2],"jitter":0.0,"layers":[1],"min_capacity":4,"random_token_selection":true,"residual":false,"sampled_noise":false,"top":1,"z_weight":0.0},"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":600000,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.001,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','moe',1795829246460);
INSERT INTO "experiment" VALUES(8,'7b938e536e3634977f9b718b180c9375ab8750e55bb7c9a76fcc7556f24d7b39','a0df673062313ddbed70724d3a919ef3b30553ebd4853e0c580a06dff20d8fb4',1,'{"curriculum":{"seqtru":{"difficulty":"value","difficulty_step":8,"max":16,"min":8,"pacing":"linear","steps":8}},"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":600000,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.001,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','cl',1795829246460);
INSERT INTO "experiment" VALUES(9,'375971bbabd453c31b0d3128ed306e3dee2aae0583b586fa29f04c3b24c01672','a7ce0e5baedd6411cff4ca5c03bb6757048049b150d3e0bfdd0c8f7ff0cdcff2',1,'{"curriculum":{"voc":{"difficulty":"percentile","difficulty_step":1,"max":100,"min":20,"pacing":"linear","steps":8}},"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":600000,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.001,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','voc',1795829246461);
INSERT INTO "experiment" VALUES(10,'f98730a682f2f5a09fc61e3b0201653136a03ba07467c92562baff9cd0f2823a','9b64808a949492c53bb5dada0973508d38f5ebd5d3162c9850918c3e442577ee',1,'{"data":{"corpus":"embedded","embedded_bytes":5000,"embedded_seed":1,"max_bytes":0,"sha256":"4743433e700889710f8c52c73ece8286b93f695bd696da3efd1e5a48ffd6512c","shuffled_facts":false,"split":[949,50,1],"vocab":257},"local":{"base_folder":"/home/ml/tiny","checkpoint":{"every_seconds":120.0,"grace_seconds":120.0,"keep":2},"columns":{},"kind":"gpt","log_every":4,"tokenizer":"bytes","train_files":[],"valid_files":[]},"model":{"activation":"gelu_tanh","attention_bias":true,"attention_dropout":0.0,"causal":true,"dropout":0.0,"feed_forward_bias":true,"head_bias":false,"heads":2,"hidden":64,"init_std":0.02,"input_dropout":0.0,"input_norm":false,"kv_heads":2,"layers":2,"norm":"layer","norm_eps":1e-05,"norm_placement":"pre","positions":"learned","rope_theta":10000.0,"segments":0,"seqlen":16,"tied_head":true,"width":16},"result_epoch":4,"seed":1,"train":{"batch_size":4,"beta1":0.9,"beta2":0.95,"budget_fraction":1.0,"budget_tokens":600000,"decay":"cosine","decay_tokens":0,"dtype":"f32","eps":1e-08,"learning_rate":0.004,"learning_rate_by_budget":"same","max_grad_norm":1.0,"micro_batch_size":4,"min_learning_rate":0.0,"warmup_tokens":0,"weight_decay":0.1}}','later',1795829246461);
CREATE TABLE expert_load (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL, layer INTEGER NOT NULL CHECK (layer >= 0),
  dropped REAL, entropy REAL, balance_loss REAL, z_loss REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0,
  load BLOB NOT NULL,
  PRIMARY KEY (attempt_id, step, layer)
) STRICT, WITHOUT ROWID;
INSERT INTO "expert_load" VALUES(5,4,1,0.03125,6.912860870361328125e-01,1.00078737735748291015e+00,4.6292456984519958496e-01,0,X'0000083F0000F03E');
INSERT INTO "expert_load" VALUES(5,8,1,0.015625,6.92198276519775390625e-01,1.00009000301361083984e+00,4.50444340705871582031e-01,0,X'0000043F0000F83E');
INSERT INTO "expert_load" VALUES(5,12,1,0.109375,0.692459225654602,1.00026297569274902343e+00,4.4478186964988708496e-01,0,X'0000C83E00001C3F');
INSERT INTO "expert_load" VALUES(5,16,1,0.046875,6.92710757255554199218e-01,0.999963641166687,4.40920412540435791015e-01,0,X'0000E83E00000C3F');
CREATE TABLE former_hash (
  config_hash TEXT PRIMARY KEY,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id)
) STRICT, WITHOUT ROWID;
INSERT INTO "former_hash" VALUES('d8f67342e24f7c0ad338193f1e7a27b6f6a29adb8c1c0d3f4757e3a8bc768f03',1);
CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  hostname TEXT NOT NULL, arch TEXT NOT NULL, cpu_model TEXT NOT NULL,
  cores INTEGER NOT NULL, threads INTEGER NOT NULL, mem_bytes INTEGER NOT NULL,
  kernel TEXT NOT NULL, os TEXT NOT NULL,
  extra_json TEXT NOT NULL DEFAULT '{}'
) STRICT;
INSERT INTO "host" VALUES(1,'6f713ff08955468cd1925f0153dd87f0a17e28e60446b004f3760bf018ee0314','node1','x86_64','Example CPU 9000',2,2,25276510208,'Linux 6.1.0-18','Debian GNU/Linux 12 (bookworm)','{"isa":["avx2","fma","avx512f"]}');
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('database_uid','13d0ccf17dac5007cdc247adeed958f5');
CREATE TABLE metric (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,
  better TEXT NOT NULL CHECK (better IN ('lower','higher','none')),
  UNIQUE (name, unit, better)
) STRICT;
INSERT INTO "metric" VALUES(1,'loss','nats/token','lower');
INSERT INTO "metric" VALUES(2,'bits_per_byte','bits/byte','lower');
INSERT INTO "metric" VALUES(3,'unigram_entropy','nats/token','lower');
INSERT INTO "metric" VALUES(4,'acc','','higher');
INSERT INTO "metric" VALUES(5,'gold_bits_per_byte','bits/byte','lower');
CREATE TABLE migration (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "migration" VALUES(1,'first schema','88947114072444a390a79e34b2043407db1318d6aed2b539fffc40f3c8aa7318',1795829216882);
INSERT INTO "migration" VALUES(2,'curves over resumed attempts','0db672e45ac2db138d9ab7ce0202620bfd8532fd4f28c3863ed622a88977ac79',1795829216886);
INSERT INTO "migration" VALUES(3,'benchmarks','abbd2224d6cf4a1706dd19ec046115a1299f496fe7d0636d1a7bf5c8ffc9f61f',1795829216886);
INSERT INTO "migration" VALUES(4,'baselines and verdicts','61f96b8dab05542c5b77f1a7dcf3823c11928ed95031f9c4ff9b36f65df94e06',1795829216887);
INSERT INTO "migration" VALUES(5,'what each attempt used, and all of a sweep','70793ebb73cbb37413aacc8984ca33b3346abc3fc00c3c288ecb8caf9083bfa5',1795829216921);
INSERT INTO "migration" VALUES(6,'scores are added to what was trained','e7373ca474aabfc6cba29752ac82821ebcb14408034af96c7a9062e8863e2328',1795829216930);
INSERT INTO "migration" VALUES(7,'stages of a sweep','e69b13d186ffc5014586075bf6d1516187167b2d4d2470b5a051b4b52ce8a25b',1795829216932);
INSERT INTO "migration" VALUES(8,'imported models','8d3b11acf6eb0653b58688f1e37a2a59b7ba10153a19ff2be347ee181e99121d',1795829216932);
INSERT INTO "migration" VALUES(9,'what experts did','db545ffd059fa36dd3cc153c167fb53ddd5872552f2abd26098644d6c541ed71',1795829216934);
INSERT INTO "migration" VALUES(10,'ranks','9dfe8fd64aa6a05712cf4b4ca3ede67b3f1ee01a375539782aff6c3c86f43ef3',1795829216940);
INSERT INTO "migration" VALUES(11,'verdicts on claims','f89db53c6d325fcda36d88cb45ba20695a08c69fe137f54cfcea36a71b041f28',1795829216947);
INSERT INTO "migration" VALUES(12,'what results are of','08d32fcf8f95ed2a5a3c245a0ddff09402b7e4cc21b14abdb5d5a0fa2c158b7e',1795829216949);
INSERT INTO "migration" VALUES(13,'claims of sweeps','17cac4119a180a828a7caab90448d3f1c091ee39c02165eac46475e1942b516f',1795829216949);
INSERT INTO "migration" VALUES(14,'what attempts spent their time on','6d919bb3b3d966c4fc6ec735564ad51c917b8c040db19bea522d8d8e5e239e14',1795829216955);
CREATE TABLE sampling_point (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  pool INTEGER NOT NULL,
  drawn INTEGER NOT NULL, repeated INTEGER NOT NULL,
  cut_tokens INTEGER NOT NULL, padded_tokens INTEGER NOT NULL,
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;
INSERT INTO "sampling_point" VALUES(1,4,354,16,0,0,0);
INSERT INTO "sampling_point" VALUES(1,8,354,32,0,0,0);
INSERT INTO "sampling_point" VALUES(1,12,354,48,0,0,0);
INSERT INTO "sampling_point" VALUES(1,16,354,64,0,0,0);
INSERT INTO "sampling_point" VALUES(3,4,354,16,0,128,0);
INSERT INTO "sampling_point" VALUES(3,8,354,32,0,224,0);
INSERT INTO "sampling_point" VALUES(3,12,354,48,0,224,0);
INSERT INTO "sampling_point" VALUES(3,16,354,64,0,224,0);
INSERT INTO "sampling_point" VALUES(3,20,354,80,0,224,0);
INSERT INTO "sampling_point" VALUES(5,4,354,16,0,0,0);
INSERT INTO "sampling_point" VALUES(5,8,354,32,0,0,0);
INSERT INTO "sampling_point" VALUES(5,12,354,48,0,0,0);
INSERT INTO "sampling_point" VALUES(5,16,354,64,0,0,0);
INSERT INTO "sampling_point" VALUES(7,4,354,16,0,0,0);
INSERT INTO "sampling_point" VALUES(7,8,354,32,0,0,0);
INSERT INTO "sampling_point" VALUES(7,12,354,48,0,0,0);
INSERT INTO "sampling_point" VALUES(7,16,354,64,0,0,0);
INSERT INTO "sampling_point" VALUES(9,4,212,16,0,0,0);
INSERT INTO "sampling_point" VALUES(9,8,354,32,0,0,0);
INSERT INTO "sampling_point" VALUES(9,12,354,48,0,0,0);
INSERT INTO "sampling_point" VALUES(9,16,354,64,0,0,0);
INSERT INTO "sampling_point" VALUES(11,4,354,16,0,0,0);
INSERT INTO "sampling_point" VALUES(11,8,354,32,0,0,0);
INSERT INTO "sampling_point" VALUES(11,12,354,48,0,0,0);
INSERT INTO "sampling_point" VALUES(11,16,354,64,0,0,0);
INSERT INTO "sampling_point" VALUES(11,20,354,80,0,0,0);
INSERT INTO "sampling_point" VALUES(11,24,354,96,0,0,0);
CREATE TABLE score (
  id INTEGER PRIMARY KEY,
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  score_key TEXT NOT NULL,
  task TEXT NOT NULL, task_sha256 TEXT NOT NULL,
  shots INTEGER NOT NULL, documents INTEGER NOT NULL,
  step INTEGER NOT NULL, model_sha256 TEXT NOT NULL,
  seconds REAL, cut_share REAL, mean_shots REAL,
  items BLOB, definition_sha256 TEXT NOT NULL DEFAULT '', scoring_version INTEGER NOT NULL DEFAULT 1,
  UNIQUE (attempt_id, score_key)
) STRICT;
INSERT INTO "score" VALUES(1,2,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a','validation','validation',0,200,16,'51e7d1faf52588a14c0e7a6bc6d3d50087cde7d48fa1cc58a4032af6159098c4',0.072289447,0.0,0.0,NULL,'',1);
INSERT INTO "score" VALUES(2,2,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438','embedded_questions','ead261b6090c03f1963f78f9745b3cb5c982277e98bfc2ff1a0de8b60f18c34a',0,20,16,'51e7d1faf52588a14c0e7a6bc6d3d50087cde7d48fa1cc58a4032af6159098c4',0.009323642,1.0,0.0,X'28B52FFD60D802F50C008623460D9025ED14AEA413F3543B2002074300420040000D44A9BD3FD5B4C0D7DDC2621489C131AEBAC6E56968D10A5DBC9D818487DB33861E2445A61D12542E742668E45C7175E00404521E4B3B7CA92A300282051148104104232C3B329B704440284CA7646D058680A04A468ADBA33F8C9DA90AA9F3080801816735AFD1156942B167652662CA184206D102077344466DE5466EE82AA255BC4082250EBE6CC7DF856EEA156E031719193F331970A1A641D5587CD6118A36E622C902A715CEBDFC5BE84CD04C33A469B160622B35F12119AD0CD3853654C1FE3F01E1B4BF6D55357A2D58CCCD24C50259A0B6346951EB0C9C5CED2C5BFC5F20B7B58989D34D4D2FD7478F05AE3C967781B7F579DACFABBC50B6667877E5444002342040824249F201570397DBFA880EB7B21DD0C2A35A4F0DF48850C4822F9253F347D4BAF046613F38A5815239469FC18FD579FB4154C34321E45BAB3700A5078A438EB903183EE5F260A58AEE8D485EAE1A7E893AC181909263C95A4942D046293FB3AB948B03ABC1C7B6A5A6CC090D3EFBAAB233D83A7F50A61CE84615B8660A780F','99bc1c3b53bcc9f782feb2aa122dab357ed06e6bc57928ff0666cfa89a449155',1);
INSERT INTO "score" VALUES(3,4,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a','validation','validation',0,200,20,'439464a33da7e7e30c9b3e1f79c1baf5d3d8ece911fe76818c001b91fc10353d',0.078585988,0.0,0.0,NULL,'',1);
INSERT INTO "score" VALUES(4,4,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438','embedded_questions','ead261b6090c03f1963f78f9745b3cb5c982277e98bfc2ff1a0de8b60f18c34a',0,20,20,'439464a33da7e7e30c9b3e1f79c1baf5d3d8ece911fe76818c001b91fc10353d',0.009541176,1.0,0.0,X'28B52FFD60DC021D0D008662440D9025ED195A5636F3543B20020741003F003F007FC488E9E7D401627D2529E1656F8D2D2C4475A9B17C4C4B25609807095F2DB31520CB8819D26FA4854BBD7AFAFB052C80A0647C3EE2FDD5C004102C888041041145C770EEA1CB871EA4AC0A553D44F3E0E22417528747837DA5C423CD9E3A890F05920EC343B2A90234E9D4691F0B2D689828793E0E50B9243C2643B880C1848D927891CC0251E31166C42711702B2A515E24908536A8E3554E448B5AE3C30561B5C83567DB2DCC67ECC86A154E60B17047C36427C8EF1DAFA87077EEE40161E4EDDBD4C2E73327D53C62A136C596CCC7B40A8F7C8AC40BC50F3F21526703333B5748B758E865AAB8A9757780B8F8C3DFD8D405D6144DAFA54B14FE043920304262A0413E570792E470C22A9174CC250125BB87872E17D0B7FE1F2B401A564772560961BE22BD16066B7DB517627429B43CB62F304317E45BDB3071F50599B2810691C75812A80ACAFE315EB44730201117B0C02CB4300A88B504427155330E583E7C17785F23307655B4CFFE7EBB4D733CA4B8FDA66EC33766D082422F1956E3B78A7EDC309D3E10515050','99bc1c3b53bcc9f782feb2aa122dab357ed06e6bc57928ff0666cfa89a449155',1);
INSERT INTO "score" VALUES(5,6,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a','validation','validation',0,200,16,'b98cdd7839e19fd157d2ae524baa13b46e7b417f3ffbb00c55cdebff919014d0',0.071877829,0.0,0.0,NULL,'',1);
INSERT INTO "score" VALUES(6,6,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438','embedded_questions','ead261b6090c03f1963f78f9745b3cb5c982277e98bfc2ff1a0de8b60f18c34a',0,20,16,'b98cdd7839e19fd157d2ae524baa13b46e7b417f3ffbb00c55cdebff919014d0',0.009420295,1.0,0.0,X'28B52FFD60D9024D0D000662430D9025754C6F52F67DAA1D10810341003E003D00C47955E707859B723329EAA8020BB3B123484A8D2633358A99040C45929647A7533E67B966A770815A44344D4AE613B0000262514D2DA38D0005102C8880410411BE8522C00AE6CB9F3E527E8066CA48D1A58A772022C71A32EF8AE851C72DA4D0F882555B855CA613BF65EABF6042A317DAEC4D743E1B27CA2E5FC0A0A1012525D212B6E80DB87DCC12C8C26C35717494A8076878316B9F72C1A34B3D676FBF059927669750CC825898918E9E6E587E171D4DB9A6870E6313D48A1B81B47D9CEDC3FA82545445CAE32E70428614162139A317BA93D448FCB8D28D97CB58901ABF2663C033451CDB9DCDC2A966E3FB145C80B2700D598175213E2050021188A1D30336095C1454243AC6C6B0D2C005369DB00B03F634B7848D64F376B44C25729A61DACBC4B36C1E16276150924672B02B8519F358BA16E65A353B82101476CAB10DFE546B5138CB378090316EA0B65A7CB837FD14AD6C34BB734B4FC0299020460D38193C6A0B49064AC5AB3B1C5D62D7AA81F75CBFFD17727FFA65DA3BD285B940D4FEDD1BC8ADC90C87B4A7D720B20D50','99bc1c3b53bcc9f782feb2aa122dab357ed06e6bc57928ff0666cfa89a449155',1);
INSERT INTO "score" VALUES(7,8,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a','validation','validation',0,200,16,'c9f56531472a1f47e5cca330f2726ca55cf0d78999efe8a1020cd2f0094e77bc',0.08715635,0.0,0.0,NULL,'',1);
INSERT INTO "score" VALUES(8,8,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438','embedded_questions','ead261b6090c03f1963f78f9745b3cb5c982277e98bfc2ff1a0de8b60f18c34a',0,20,16,'c9f56531472a1f47e5cca330f2726ca55cf0d78999efe8a1020cd2f0094e77bc',0.010309715,1.0,0.0,X'28B52FFD60D502AD0C00D6E1420D902575647766F67DAA1D10810341003D003D000EBED718A2D44C69CEEBA7F2B8DA604143D1D841A1DF644371ABD0A9C23FC002826FA41755E765A1283311A647DF400B0888D1586F7B221828028205113088200295A0199BA5BBC23CCABF43F3D5831EB9FC2F95824C4D4E6356A64C5F329F9409CA84116F5C9945C4161AABC82E90307B754A32A7941B46858CF42D6010F66C3A77625E10AED84DE5EFD0D09CD6744136D12192497D80254A9C52A2AB01173CDF1396AA87B7201B1196E98B850A76A73099163478F062532E0F19A1F2E1D026C9F802E5210DA10872E132422B711F44B2C42A4AB6086861225611124EA9AC51FD3D838C59304DF824F520698CEFEB57CCC2B2400E9F1836203082E48CF6200104E5C8634C091E73F9AB5EF06A0BADB15BEB96650CDDC514245F48F25234AEC428D84203BE22386079ABDDEB163AF1058C4CC85B28E100EC106449A02E288BC75C0D8A765167D5893886C2BFD613583EB85318965ED58C035DAAA55B8EB82A7D4D9CA17BA877CC6279A8F4622A5F6551519CB426F05294109DACC80B4301','99bc1c3b53bcc9f782feb2aa122dab357ed06e6bc57928ff0666cfa89a449155',1);
INSERT INTO "score" VALUES(9,10,'1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a','validation','validation',0,200,16,'8815e18faa77c69457a415604c29a4f25ca1641557d4c648715dcacf6a4dd070',0.069037261,0.0,0.0,NULL,'',1);
INSERT INTO "score" VALUES(10,10,'ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438','embedded_questions','ead261b6090c03f1963f78f9745b3cb5c982277e98bfc2ff1a0de8b60f18c34a',0,20,16,'8815e18faa77c69457a415604c29a4f25ca1641557d4c648715dcacf6a4dd070',0.011305186,1.0,0.0,X'28B52FFD60DC023D0D0006E2430D9025ED145A5626F3543B2002073F003F003F00DE483F52D7940BFE77C91844E85EA4510DADA214B228D1EC2268F0A336F28AAFD42A77D3F18FC10D5A75D58879E0010824E2D311A77630D000040C163458B076E09E17D4ED5B03A5E08AA3C878302A302389A6A8E6FC6166651841326B30616CA94E947CC24432B758232C060E17CFF3D6CAF549C94E6905C8A08184D838F21A6269F5914505280C8EF13BF5289F8786EA52D58C614AC825F189B42E87A15123C7A9BC20032D58268E493A8611FADF5EFE4805184450813AC4CBCCA70261FA993F8BA1A427DE192B1868F443CF2B3E47400C32F5582B8193EE161505F10C424FEBF32B404B11AB6705380C5EC448A97C4D11892A823633CCD0E23A3C20404262203A3E3712E0007E3D29931059ECCF9C934935C9BC89E102B7368E94B0A9B52D2DACA24494CFCCC05050CBED96248F38D072C232E19DA18DC2560ECB7C4E8A185EF630B2D59B018B362064A0FB2DC9732C01DC5B5D286C77BCA18541149699AF8A1276C9D93F39196D301815DE1394B970D6FE3A998FB142D6D6A90B2B208A74D6EA0BE20F956EC264106D2D9157D803','99bc1c3b53bcc9f782feb2aa122dab357ed06e6bc57928ff0666cfa89a449155',1);
CREATE TABLE spent (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  elapsed_seconds REAL NOT NULL CHECK (elapsed_seconds >= 0),
  train_seconds REAL NOT NULL CHECK (train_seconds >= 0),
  eval_seconds REAL NOT NULL CHECK (eval_seconds >= 0),
  waited_seconds REAL NOT NULL CHECK (waited_seconds >= 0),
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;
INSERT INTO "spent" VALUES(2,16,0.119,0.0,0.081613089,0.0);
INSERT INTO "spent" VALUES(4,20,0.122,0.0,0.088127164,0.0);
INSERT INTO "spent" VALUES(6,16,0.113,0.0,0.081298124,0.0);
INSERT INTO "spent" VALUES(8,16,0.138,0.0,9.74660649999999906256e-02,0.0);
INSERT INTO "spent" VALUES(10,16,0.121,0.0,0.080342447,0.0);
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  spec_sha256 TEXT NOT NULL,
  spec_toml TEXT NOT NULL,
  overrides_json TEXT NOT NULL DEFAULT '[]',
  created_ms INTEGER NOT NULL,
  use_order INTEGER NOT NULL, title TEXT NOT NULL DEFAULT '', scale TEXT NOT NULL DEFAULT 'unknown', baseline TEXT NOT NULL DEFAULT '', command TEXT NOT NULL DEFAULT '', points TEXT NOT NULL DEFAULT '', paper TEXT NOT NULL DEFAULT '', claims_json TEXT NOT NULL DEFAULT '',
  UNIQUE (name, spec_sha256)
) STRICT;
INSERT INTO "sweep" VALUES(1,'d65e2b17421827ecc461286a1fa10dbd','tiny','78ad93a7c58de8936638fd8dad5625c0bbd58a79a3b8cf6f698ff0e73f75e19c','name = "tiny"
title = "A tiny sweep"
seeds = [1]
baseline = "baseline"
[resources]
slots = "cpu:1"
[price]
usd_per_device_hour = 0.04
sku = "core"
source = "a test"
date = "2026-11-20"
[defaults]
log_every = 4
[defaults.model]
layers = 2
width = 16
heads = 2
seqlen = 16
[defaults.data]
corpus = "embedded"
embedded_bytes = 5000
[defaults.train]
batch_size = 4
budget_tokens = 1024
[defaults.eval]
tasks = ["embedded_questions"]
documents = 20
validation_tokens = 200
[[case]]
name = "baseline"
[[case]]
name = "moe"
model.experts = { count = 2, top = 1, layers = [1] }
[[case]]
name = "cl"
[case.curriculum.seqtru]
steps = 8
[[case]]
name = "voc"
[case.curriculum.voc]
min = 20
steps = 8
[[case]]
name = "later"
train.learning_rate = 0.004
','[]',1795829217155,1,'A tiny sweep','','baseline','deft run tiny.toml','tiny.toml','','');
INSERT INTO "sweep" VALUES(2,'c52b539928f20e8ff496c3362b5858e2','tiny','e6151a52c1af3e5faa5d5cb8672b2e9e966fe2afc556dd290a320bdc70f55f87','name = "tiny"
title = "A tiny sweep"
seeds = [1]
baseline = "baseline"
[resources]
slots = "cpu:1"
[price]
usd_per_device_hour = 0.04
sku = "core"
source = "a test"
date = "2026-11-20"
[defaults]
log_every = 4
[defaults.model]
layers = 2
width = 16
heads = 2
seqlen = 16
[defaults.data]
corpus = "embedded"
embedded_bytes = 5000
[defaults.train]
batch_size = 4
budget_tokens = 1024
[defaults.eval]
tasks = ["embedded_questions"]
documents = 20
validation_tokens = 200
[[case]]
name = "baseline"
[[case]]
name = "moe"
model.experts = { count = 2, top = 1, layers = [1] }
[[case]]
name = "cl"
[case.curriculum.seqtru]
steps = 8
[[case]]
name = "voc"
[case.curriculum.voc]
min = 20
steps = 8
[[case]]
name = "later"
train.learning_rate = 0.004
','[{"path":"train.budget_tokens","value":600000}]',1795829246458,2,'A tiny sweep','','baseline','deft run tiny.toml --set train.budget_tokens=600000','tiny.toml --set train.budget_tokens=600000','','');
CREATE TABLE "sweep_member" (
  sweep_id INTEGER NOT NULL REFERENCES sweep(id) ON DELETE CASCADE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  case_key TEXT NOT NULL,
  axes_json TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  scores_json TEXT NOT NULL DEFAULT '[]', stage TEXT NOT NULL DEFAULT '', seeds TEXT NOT NULL DEFAULT '', imported_json TEXT NOT NULL DEFAULT '', use_order INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (sweep_id, experiment_id, case_key, axes_json)
) STRICT, WITHOUT ROWID;
INSERT INTO "sweep_member" VALUES(1,1,'baseline','{}',0,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',1);
INSERT INTO "sweep_member" VALUES(1,2,'moe','{}',1,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',2);
INSERT INTO "sweep_member" VALUES(1,3,'cl','{}',2,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',3);
INSERT INTO "sweep_member" VALUES(1,4,'voc','{}',3,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',4);
INSERT INTO "sweep_member" VALUES(1,5,'later','{}',4,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',5);
INSERT INTO "sweep_member" VALUES(2,6,'baseline','{}',0,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',1);
INSERT INTO "sweep_member" VALUES(2,7,'moe','{}',1,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',2);
INSERT INTO "sweep_member" VALUES(2,8,'cl','{}',2,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',3);
INSERT INTO "sweep_member" VALUES(2,9,'voc','{}',3,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',4);
INSERT INTO "sweep_member" VALUES(2,10,'later','{}',4,'[{"key":"1efb4b1e344dda3178903a7741eabb52a656b8e6739900e1c057f8103f37065a","shots":0,"task":"validation"},{"key":"ffbc3ecd120588f470be12c18dd038ac6b9e602c7f4726941a37c838e949f438","shots":0,"task":"embedded_questions"}]','','1','',5);
CREATE TABLE train_point (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  unique_tokens INTEGER NOT NULL,
  layer_tokens INTEGER NOT NULL,
  flops REAL,
  wall_ms INTEGER NOT NULL,
  loss REAL, lr REAL, grad_norm REAL, tok_per_s REAL,
  seqlen INTEGER NOT NULL, kept_tokens INTEGER NOT NULL,
  nonfinite INTEGER NOT NULL DEFAULT 0, sent_bytes INTEGER NOT NULL DEFAULT 0 CHECK (sent_bytes >= 0), expert_bytes INTEGER NOT NULL DEFAULT 0 CHECK (expert_bytes >= 0),
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;
INSERT INTO "train_point" VALUES(1,4,256,256,256,17227776.0,75,5.46118490397930145263e+00,9.15734806151272660336e-04,1.74537575344766926477e+00,3.37478994733917124905e+03,16,16,0,0,0);
INSERT INTO "train_point" VALUES(1,8,512,512,512,34455552.0,79,5.34635358303785324096e+00,5.9754516100806419343e-04,1.29156587651877030609e+00,6.57773196204750129276e+04,16,16,0,0,0);
INSERT INTO "train_point" VALUES(1,12,768,768,768,51683328.0,80,5.30503226071596145629e+00,2.22214883490199033256e-04,1.18615290614588797524e+00,2.92513594455041515181e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(1,16,1024,1024,1024,68911104.0,81,5.29752130061388,9.60735979838478565927e-06,1.1399473359537777295e+00,3.21419468728769803416e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(3,4,128,128,128,8417280.0,76,5.46899996697902679443e+00,9.78470167866104427803e-04,1.87231431424144334485e+00,1.68215367291223606119e+03,8,8,0,0,0);
INSERT INTO "train_point" VALUES(3,8,288,288,288,19037184.0,76,5.34992969781160354614e+00,8.86505226681368442911e-04,1.34038634956148117183e+00,2.14838924516346276515e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(3,12,544,544,544,36264960.0,81,5.27324258536100387573e+00,5.49008570164780432786e-04,1.16868820742974,5.1688539398983324646e+04,16,16,0,0,0);
INSERT INTO "train_point" VALUES(3,16,800,800,800,53492736.0,82,5.24842497706413269042e+00,1.82803357918177319203e-04,1.13025410759640854152e+00,2.86954981695412949197e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(3,20,1056,1056,1056,70720512.0,83,5.25053174793720245361e+00,2.40763666390159134173e-06,1.24125882320683822435e+00,3.20297075537562253881e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(5,4,256,256,256,17149248.0,72,5.47866411566734345939e+00,9.15734806151272660336e-04,1.69543421808375982529e+00,3.55359451429393857335e+03,16,16,0,0,0);
INSERT INTO "train_point" VALUES(5,8,512,512,512,34234656.0,73,5.36329636782407792594e+00,5.9754516100806419343e-04,1.31770110617707492117e+00,2.04217734395691222736e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(5,12,768,768,768,51294528.0,78,5.32249692261219,2.22214883490199033256e-04,1.19857996706680114407e+00,4.74412752066521134107e+04,16,16,0,0,0);
INSERT INTO "train_point" VALUES(5,16,1024,1024,1024,68482080.0,79,5.31483373403549208546e+00,9.60735979838478565927e-06,1.1605919450200450349e+00,2.49460152638431754902e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(7,4,256,256,256,17227776.0,70,5.25600471347570419311e+00,3.66293922460509064134e-03,1.06934457615960964993e+00,3.63970285693357436694e+03,16,16,0,0,0);
INSERT INTO "train_point" VALUES(7,8,512,512,512,34455552.0,71,4.92983459681272506713e+00,2.39018064403225677372e-03,1.18299820584161818892e+00,3.08897453285292955126e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(7,12,768,768,768,51683328.0,72,4.75889052450656890869e+00,8.88859533960796133027e-04,1.16769773272013788201e+00,2.35839496482675516748e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(7,16,1024,1024,1024,68911104.0,77,4.71853592246770858764e+00,3.84294391935391426362e-05,1.12007779123354200834e+00,4.69218101187982611008e+04,16,16,0,0,0);
INSERT INTO "train_point" VALUES(9,4,256,256,256,17227776.0,76,5.46609645336866378784e+00,9.15734806151272660336e-04,2.03237857211878569785e+00,3.36731577553504621389e+03,16,16,0,0,0);
INSERT INTO "train_point" VALUES(9,8,512,512,512,34455552.0,77,5.34635839611291885375e+00,5.9754516100806419343e-04,1.39028223945161411023e+00,2.53826735490727238347e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(9,12,768,768,768,51683328.0,77,5.32878799736499786376e+00,2.22214883490199033256e-04,1.20124236619888491439e+00,3.13315032145386561748e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(9,16,1024,1024,1024,68911104.0,78,5.29642731696367263793e+00,9.60735979838478565927e-06,1.17084340698497735289e+00,3.1374663733462482924e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(11,4,256,256,256,17227776.0,122,5.25227907299995422363e+00,3.99999898935259404209e-03,1.069436579438548085e+00,2.08974989269215939203e+03,16,16,0,0,0);
INSERT INTO "train_point" VALUES(11,8,512,512,512,34455552.0,123,4.85544631630182266235e+00,3.99999449758840688179e-03,1.18669257832464514201e+00,1.77589089370320551098e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(11,12,768,768,768,51683328.0,129,4.47362840920686721801e+00,3.99998641242134411744e-03,1.16593169896937842722e+00,4.50096990626906335837e+04,16,16,0,0,0);
INSERT INTO "train_point" VALUES(11,16,1024,1024,1024,68911104.0,131,4.09810994192957878112e+00,3.99997473386593145605e-03,1.09165519605697181049e+00,1.71483384867661370655e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(11,20,1280,1280,1280,86138880.0,132,3.84791337326169,3.99995946194315298016e-03,1.1711038214355049547e+00,1.83657759504471410766e+05,16,16,0,0,0);
INSERT INTO "train_point" VALUES(11,24,1536,1536,1536,103366656.0,138,3.4666381143033504486e+00,3.99994059668044681099e-03,0.990742198592361,4.60824432911432450062e+04,16,16,0,0,0);
CREATE TABLE "verdict" (
  id INTEGER PRIMARY KEY,
  check_uid TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('bench','quality','trend','claim')),
  subject_json TEXT NOT NULL,
  rule_json TEXT NOT NULL,
  effect REAL, ci_lo REAL, ci_hi REAL,
  applied_limit REAL,
  p_raw REAL, p_adj REAL,
  result TEXT NOT NULL CHECK (result IN ('better','same','worse','unclear','broken','missing','holds','fails')),
  words TEXT NOT NULL
) STRICT;
INSERT INTO "verdict" VALUES(1,'0fb52536ef058596a76bb89033bfcf74',1795829233486,'quality','{"baseline":"first","case":"baseline","measure":{"better":"higher","kind":"score","metric":"acc","shots":0,"split":"test","task":"embedded_questions","unit":""}}','{"confidence":0.9,"curves":"mean loss over the last half of the tokens that all seeds consumed","false_discovery_rate":0.05,"fewest_seeds":3,"loss_margin":0.01,"score_margin":0.01}',NULL,NULL,NULL,NULL,NULL,NULL,'missing','nothing was trained since it was pinned');
INSERT INTO "verdict" VALUES(2,'0fb52536ef058596a76bb89033bfcf74',1795829233486,'quality','{"baseline":"first","case":"baseline","measure":{"better":"lower","kind":"score","metric":"gold_bits_per_byte","shots":0,"split":"test","task":"embedded_questions","unit":"bits/byte"}}','{"confidence":0.9,"curves":"mean loss over the last half of the tokens that all seeds consumed","false_discovery_rate":0.05,"fewest_seeds":3,"loss_margin":0.01,"score_margin":0.01}',NULL,NULL,NULL,NULL,NULL,NULL,'missing','nothing was trained since it was pinned');
CREATE INDEX experiment_variant ON experiment(variant_hash, seed);
CREATE UNIQUE INDEX attempt_one_live ON attempt(experiment_id) WHERE state IN ('leased','running');
CREATE TRIGGER attempt_terminal BEFORE UPDATE OF state ON attempt
  WHEN OLD.state NOT IN ('leased','running')
  BEGIN SELECT RAISE(ABORT,'attempt already ended'); END;
CREATE INDEX bench_result_series ON bench_result(case_id, code_id);
CREATE UNIQUE INDEX baseline_live ON baseline(name, variant, measure_json) WHERE retired_ms IS NULL;
CREATE TRIGGER baseline_retired BEFORE UPDATE OF retired_ms ON baseline WHEN OLD.retired_ms IS NOT NULL
  BEGIN SELECT RAISE(ABORT,'a retired baseline stays retired'); END;
CREATE INDEX score_by_key ON score(score_key);
CREATE INDEX sweep_member_experiment ON sweep_member(experiment_id);
CREATE VIEW v_kept AS
SELECT a.experiment_id, a.id AS attempt_id, a.id = s.id AS is_result, ifnull(a.resume_step, 0) AS after_step,
  (SELECT min(ifnull(b.resume_step, 0)) FROM attempt b
   WHERE b.experiment_id = a.experiment_id AND b.kind = 'train' AND b.number > a.number AND b.number <= s.number
   AND (b.resume_step IS NOT NULL OR EXISTS (SELECT 1 FROM train_point q WHERE q.attempt_id = b.id))) AS last_step
FROM attempt a
CROSS JOIN attempt s ON s.id = (SELECT c.id FROM attempt c WHERE c.experiment_id = a.experiment_id AND c.kind = 'train'
                                ORDER BY c.state = 'ok' DESC, c.number DESC LIMIT 1)
WHERE a.kind = 'train' AND a.number <= s.number;
CREATE VIEW v_curve AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN train_point p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
CREATE VIEW v_sampling AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN sampling_point p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
CREATE TRIGGER experiment_ro BEFORE UPDATE OF config_hash, variant_hash, seed, config_json ON experiment
  BEGIN SELECT RAISE(ABORT,'experiment is immutable'); END;
CREATE TRIGGER baseline_ro BEFORE UPDATE OF id, name, variant, variant_hash, measure_json, center, lo, hi, n,
  source_json, pinned_by, reason, created_ms ON baseline BEGIN SELECT RAISE(ABORT,'a baseline is immutable'); END;
CREATE VIEW v_expert_load AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN expert_load p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
CREATE INDEX verdict_check ON verdict(check_uid);
CREATE TRIGGER verdict_ro_u BEFORE UPDATE ON verdict BEGIN SELECT RAISE(ABORT,'verdict is append-only'); END;
CREATE TRIGGER baseline_kept BEFORE DELETE ON baseline BEGIN SELECT RAISE(ABORT,'a baseline is kept'); END;
CREATE TRIGGER verdict_ro_d BEFORE DELETE ON verdict BEGIN SELECT RAISE(ABORT,'verdict is append-only'); END;
