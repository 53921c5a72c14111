import CoreData
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

@Suite("Output", .ownThread)
struct OutputTests {
    private func withStore(of count: Int, _ body: (URL, URL) throws -> Void) throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("notes.sqlite")
            let text = NSAttributeDescription()
            (text.name, text.attributeType, text.isOptional) = ("text", .stringAttributeType, true)
            let note = NSEntityDescription()
            (note.name, note.properties) = ("Note", [text])
            let model = NSManagedObjectModel()
            model.entities = [note]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            let objects = (0..<count).map { ["text": "note \($0) " + String(repeating: "x", count: 80)] }
            try context.performAndWait {
                _ = try context.execute(NSBatchInsertRequest(entityName: "Note", objects: objects))
            }
            let temporary = folder.appendingPathComponent("tmp")
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
            try body(url, temporary)
        }
    }

    @Test("A full device is an error of every command, and reported")
    func fullDevice() throws {
        try withStore(of: 1) { store, temporary in
            for command in [
                "--help", "--version", "info '\(store.path)'", "dump '\(store.path)'", "dump '\(store.path)' --json",
                "model describe '\(store.path)'",
            ] {
                let run = try shell("$PIPPIN \(command) > /dev/full", temporary: temporary)
                #expect(run.status == 1, "\(command)")
                #expect(run.errors == "pippin: the output cannot be written: No space left on device\n", "\(command)")
            }
        }
    }

    @Test("A full device is an error of the programs beside it, too, and a reader that has seen enough none")
    func programsBeside() throws {
        try withStore(of: 1) { store, temporary in
            for (program, command) in [
                ("pippin-postgres", "$PIPPIN-postgres dump '\(store.path)'"),
                ("pippin", "$PIPPIN-shell '\(store.path)' <<< .help"),
            ] {
                let run = try shell("\(command) > /dev/full", temporary: temporary)
                #expect(run.status == 1, "\(command)")
                let end = "\(program): the output cannot be written: No space left on device\n"
                #expect(run.errors.hasSuffix(end), "\(command)")
            }
            let run = try shell("$PIPPIN-postgres dump '\(store.path)' | true", temporary: temporary)
            #expect(run.errors.isEmpty)
        }
    }

    @Test("A closed output is an error, and no file of the program's takes its place")
    func closedOutput() throws {
        try withStore(of: 1) { store, temporary in
            let run = try shell("$PIPPIN dump '\(store.path)' >&-", temporary: temporary)
            #expect(run.status == 1)
            #expect(run.errors.contains("cannot be written"))
            #expect(CommandRun("info", store.path).status == 0)
        }
    }

    @Test("What is named as output is written: a link's file, and a pipe as it is; neither is replaced")
    func linksAndPipes() throws {
        try withStore(of: 2) { store, temporary in
            for command in ["export '\(store.path)' Note", "model graph '\(store.path)' --format dot"] {
                let line = """
                    cd '\(temporary.path)' && rm -f link file pipe && touch file && ln -s file link && mkfifo pipe || exit 9
                    $PIPPIN \(command) --output link && [ -L link ] && [ -s file ] || exit 8
                    cat pipe > seen & $PIPPIN \(command) --output pipe && wait && [ -p pipe ] && cmp file seen
                    """
                let run = try shell("{ \(line); } >&2", temporary: temporary)
                #expect(run.status == 0, "\(command): \(run.errors)")
                let left = try FileManager.default.contentsOfDirectory(atPath: temporary.path)
                #expect(!left.contains { $0.contains(".pippin-") })
            }
            let folder = try shell(
                "$PIPPIN export '\(store.path)' Note --output '\(temporary.path)'", temporary: temporary)
            #expect(folder.status == 1)
            #expect(folder.errors.contains("Is a directory"))
        }
    }

    @Test("A reader that has seen enough ends the program at once, as it ends Unix tools, and quietly; nothing is left")
    func closedPipe() throws {
        try withStore(of: 20_000) { store, temporary in
            let run = try shell(
                "$PIPPIN dump '\(store.path)' | head -1; echo ${PIPESTATUS[0]}", temporary: temporary)
            #expect(run.output.hasSuffix("\n141\n"))
            #expect(run.errors.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
        }
    }

    @Test(
        "Nor is anything left beside the store, whichever command it was",
        arguments: [
            "dump STORE", "dump STORE --json", "query STORE Note", "query STORE Note --in-place", "info STORE",
            "check STORE", "model describe STORE", "export STORE Note", "export STORE Note --in-place",
        ])
    func besideTheStore(_ command: String) throws {
        try withStore(of: 3_000) { store, temporary in
            let folder = store.deletingLastPathComponent().path
            let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            let arguments = command.replacingOccurrences(of: "STORE", with: "'\(store.path)'")
            let run = try shell("$PIPPIN \(arguments) | true", temporary: temporary)
            #expect(run.errors.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)
        }
    }

    @Test("A query ends as soon as nobody reads on, and prints the same to a file as it read")
    func queryPipe() throws {
        try withStore(of: 20_000) { store, temporary in
            let run = try shell(
                "$PIPPIN query '\(store.path)' Note --format jsonl | head -1 | wc -l; echo ${PIPESTATUS[0]}",
                temporary: temporary)
            #expect(run.output == "1\n141\n")
            #expect(run.errors.isEmpty)
            let all = try shell("$PIPPIN query '\(store.path)' Note --format csv | wc -l", temporary: temporary)
            #expect(all.output.trimmingCharacters(in: .whitespacesAndNewlines) == "20001")
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
        }
    }

    @Test(
        "A store of 100,000 rows, 110 MB, is written out in 60 MB of memory",
        arguments: ["dump STORE --json", "dump STORE --entity Note", "query STORE Note --format jsonl"])
    func memory(_ command: String) throws {
        try withStore(of: 1) { store, temporary in
            try execute(
                """
                WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT n, 1, 1, printf('%.*c', 1000, 'x') FROM numbers
                """, in: store)
            let arguments = command.replacingOccurrences(of: "STORE", with: "'\(store.path)'")
            // What the program may hold in memory, in kilobytes; the pages of the store's file are the system's.
            let run = try shell(
                "ulimit -d 60000; $PIPPIN \(arguments) | grep -c xxxx; echo ${PIPESTATUS[0]}", temporary: temporary)
            #expect(run.output == "100000\n0\n")
            #expect(run.errors.isEmpty)
        }
    }

    @Test(
        "A store of 60 rows of 2 MB is written out in 60 MB of memory",
        arguments: ["dump STORE --json", "query STORE Note --format csv", "query STORE Note"])
    func largeRows(_ command: String) throws {
        try withStore(of: 1) { store, temporary in
            try execute(
                """
                WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 61)
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT n, 1, 1, printf('%.*c', 2000000, 'x') FROM numbers
                """, in: store)
            let arguments = command.replacingOccurrences(of: "STORE", with: "'\(store.path)'")
            let run = try shell(
                "ulimit -d 60000; $PIPPIN \(arguments) | grep -c xxxx; echo ${PIPESTATUS[0]}", temporary: temporary)
            // With the one that was there.
            #expect(run.output == "61\n0\n")
            #expect(run.errors.isEmpty)
        }
    }

    @Test("Neither colours nor progress get into a file or a pipe")
    func plain() throws {
        try withStore(of: 300) { store, temporary in
            let run = try shell(
                "$PIPPIN query '\(store.path)' Note; $PIPPIN check '\(store.path)'", temporary: temporary)
            #expect(!run.output.contains("\u{1B}"))
            #expect(run.errors.isEmpty)
        }
    }

    @Test("A signal ends the program, and its copy of the store goes before", arguments: ["TERM", "INT", "HUP"])
    func signals(_ signal: String) throws {
        try withStore(of: 20_000) { store, temporary in
            // A shell without a terminal has programs in the background ignore interruptions. Nobody reads: the program
            // waits in the middle of its output.
            let line = """
                mkfifo '\(temporary.path)/pipe'; exec 3<>'\(temporary.path)/pipe'
                env --default-signal=INT $PIPPIN dump '\(store.path)' >&3 & id=$!
                for i in $(seq 200); do sleep 0.05; ls '\(temporary.path)' | grep -q copy && sleep 0.5 && break; done
                ls '\(temporary.path)' | grep -c copy; kill -\(signal) $id; wait $id; echo $?
                """
            let run = try shell(line, temporary: temporary)
            let numbers: [String: Int32] = ["TERM": SIGTERM, "INT": SIGINT, "HUP": SIGHUP]
            let number = numbers[signal] ?? 0
            #expect(run.output == "1\n\(128 + number)\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == ["pipe"])
        }
    }

    @Test("After kill -9, the next run removes the copy; that of a living run stays")
    func killed() throws {
        try withStore(of: 20_000) { store, temporary in
            let living = try TemporaryFolder(in: temporary)
            let dead = temporary.appendingPathComponent("pippin-copy-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: dead, withIntermediateDirectories: true)
            try Data([1]).write(to: dead.appendingPathComponent("notes.sqlite"))
            let run = try shell("$PIPPIN info '\(store.path)'", temporary: temporary)
            #expect(run.status == 0)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [living.url.lastPathComponent])
        }
    }

    @Test("The copy is for its owner only")
    func permissions() throws {
        try withStore(of: 1) { store, _ in
            let copy = try PrivateCopy(of: store)
            for (url, mode) in [(copy.url, 0o600), (copy.url.deletingLastPathComponent(), 0o700)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
            }
        }
    }
}

@Suite("External data, as pippin shows them")
struct ExternalDataReportTests {
    @Test("info counts values, missing files and files that nothing refers to; dump marks what is missing")
    func missing() throws {
        try inTestFolder { folder in
            let url = folder.appendingPathComponent("photos.sqlite")
            let photo = NSAttributeDescription()
            (photo.name, photo.attributeType, photo.isOptional) = ("photo", .binaryDataAttributeType, true)
            photo.allowsExternalBinaryDataStorage = true
            let picture = NSEntityDescription()
            (picture.name, picture.properties) = ("Picture", [photo])
            let model = NSManagedObjectModel()
            model.entities = [picture]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for _ in 0..<3 {
                    let object = NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
                    object.setValue(Data(count: 200_000), forKey: "photo")
                }
                try context.save()
            }
            #expect(CommandRun("info", url.path).output.contains("external data   3 values in files\n"))
            let files = folder.appendingPathComponent(".photos_SUPPORT/_EXTERNAL_DATA")
            let gone = try #require(try FileManager.default.contentsOfDirectory(atPath: files.path).first)
            try FileManager.default.removeItem(at: files.appendingPathComponent(gone))
            try Data([1]).write(to: files.appendingPathComponent(UUID().uuidString))
            #expect(
                CommandRun("info", url.path).output.contains(
                    "external data   3 values in files, 1 of them missing; 1 file that nothing refers to\n"))
            let dump = CommandRun("dump", url.path)
            #expect(dump.status == 0)
            #expect(dump.output.contains("missing: \(files.path)/\(gone) (No such file or directory)"))
            let json = try CommandRun("dump", url.path, "--json").objects()["Picture"]
            let missing = json?.compactMap { ($0["$marks"] as? [String: [String: String]])?["photo"] }
            #expect(missing == [["missing": "\(files.path)/\(gone)", "reason": "No such file or directory"]])
            #expect(json?.count { $0["photo"] is NSNull } == 1)
        }
    }
}
