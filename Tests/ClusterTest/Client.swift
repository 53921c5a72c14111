import CoreDataPostgres
import Foundation

/// One program of several that take, change and delete orders.
final class Client {
    let number: Int
    let container: NSPersistentContainer
    let journal: Journal
    private let stopFile: String
    var random: SeededGenerator
    var sequence = 0
    /// The latest of this client's saves that were acknowledged.
    var latestSaved = 0
    /// Whether generations are read from standbys, which may lag, but not behind what was promised.
    private let readsStandbys: Bool
    private let folder: String
    private let url: URL?
    private let options: [AnyHashable: Any]
    /// How many orders all clients work on.
    private static let orders = 40

    /// - Parameters:
    ///   - number: which one of several it is.
    ///   - connection: the servers.
    ///   - folder: where the journal goes, and where a file says when to stop.
    ///   - seed: what its random choices come from.
    /// - Throws: an error when the journal cannot be written.
    init(_ number: Int, _ connection: String, _ folder: String, seed: UInt64) throws {
        self.number = number
        random = SeededGenerator(seed: seed &+ UInt64(number) &* 7919)
        journal = try Journal("\(folder)/journal-\(number)")
        stopFile = "\(folder)/stop"
        readsStandbys = number % 2 == 1
        self.folder = folder
        container = NSPersistentContainer(name: "Shop", managedObjectModel: Shop.model())
        let description = NSPersistentStoreDescription(postgreSQLConnection: connection)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(1 as NSNumber, forKey: NSPostgreSQLAnswerTimeoutOption)
        // Some are patient, and are told nothing of what happens; some give up early, and ask later.
        let patience = number % 4 == 3 ? 2 : 90
        description.setOption(patience as NSNumber, forKey: NSPostgreSQLFailoverTimeoutOption)
        description.setOption(readsStandbys as NSNumber, forKey: NSPostgreSQLStandbyReadsOption)
        container.persistentStoreDescriptions = [description]
        (url, options) = (description.url, description.options)
    }

    func run() throws {
        var failure: (any Error)?
        for _ in 0..<20 {
            failure = nil
            container.loadPersistentStores { _, error in failure = error }
            guard failure != nil else { break }
            sleep(1)
        }
        if let failure { throw failure }
        while !FileManager.default.fileExists(atPath: stopFile) {
            let context = container.newBackgroundContext()
            let order = Int.random(in: 0..<Self.orders, using: &random)
            let choice = Int.random(in: 0..<100, using: &random)
            if choice < 5 {
                exchange(context)
            } else if choice < 15 {
                merge(container.newBackgroundContext())
            } else if choice < 35 {
                read(order, context)
            } else {
                change(order, deletes: choice > 88, context)
            }
            usleep(.random(in: 0..<20_000, using: &random))
        }
    }

    private func order(_ number: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
        request.predicate = NSPredicate(format: "number == %d", number)
        request.relationshipKeyPathsForPrefetching = ["lines"]
        return try context.fetch(request).first
    }

    private func read(_ order: Int, _ context: NSManagedObjectContext) {
        sequence += 1
        let start = now()
        context.performAndWait {
            do {
                // One state of the store, so that order and lines belong together.
                try context.setQueryGenerationFrom(.current)
                let found = try self.order(order, context)
                let stamp = found?.value(forKey: "stamp") as? String ?? ""
                if let found {
                    let lines = found.value(forKey: "lines") as? Set<NSManagedObject> ?? []
                    let stamps = lines.map { $0.value(forKey: "stamp") as? String ?? "" }
                    if lines.count != found.value(forKey: "size") as? Int || !stamps.allSatisfy({ $0 == stamp }) {
                        journal.complain("client \(number) saw half of order \(order): \(stamp), lines \(stamps)")
                    }
                }
                try look(for: latestSaved, of: number, context)
                write(
                    Entry(
                        readsStandbys ? .look : .read, .done, client: number, sequence: sequence, order: order,
                        start: start, end: now(), to: stamp))
            } catch {
                write(
                    Entry(.read, .refused, client: number, sequence: sequence, order: order, start: start, end: now()))
            }
        }
    }

    /// Sees to it that a generation has a save of a client's.
    private func look(for sequence: Int, of client: Int, _ context: NSManagedObjectContext) throws {
        guard sequence > 0 else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "client == %d AND sequence == %d", client, sequence)
        if try context.count(for: request) == 0 {
            journal.complain(
                "client \(number) does not see save \(sequence) of client \(client), which it was promised")
        }
    }

    /// Leaves a promise for others, and looks whether another one's is kept: as a web server does that is asked after
    /// another one.
    private func exchange(_ context: NSManagedObjectContext) {
        let coordinator = container.persistentStoreCoordinator
        do {
            let promise = Promise(sequence: latestSaved, token: try coordinator.postgreSQLReadToken())
            try JSONEncoder().encode(promise).write(
                to: URL(fileURLWithPath: "\(folder)/promise-\(number)"), options: .atomic)
            let other = Int.random(in: 0..<8, using: &random)
            guard let data = try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/promise-\(other)")) else { return }
            let theirs = try JSONDecoder().decode(Promise.self, from: data)
            guard let token = theirs.token else { return }
            coordinator.require(token)
            try context.performAndWait {
                try context.setQueryGenerationFrom(.current)
                try look(for: theirs.sequence, of: other, context)
            }
        } catch {
            // There was no server.
        }
    }

    private struct Promise: Codable {
        let sequence: Int
        let token: NSPostgreSQLReadToken?
    }

    private func change(_ order: Int, deletes: Bool, _ context: NSManagedObjectContext) {
        sequence += 1
        let start = now()
        let stamp = "\(number)-\(sequence)"
        var entry = Entry(.change, .refused, client: number, sequence: sequence, order: order, start: start, end: start)
        context.performAndWait {
            do {
                let found = try self.order(order, context)
                entry.from = found?.value(forKey: "stamp") as? String ?? ""
                if let found, deletes { context.delete(found) } else { fill(found, order, stamp, context) }
                entry.to = found != nil && deletes ? "" : stamp
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(number, forKey: "client")
                note.setValue(sequence, forKey: "sequence")
                try context.save()
                entry.outcome = .done
            } catch {
                if let save = NSPostgreSQLUndecidedSave(of: error) { entry.outcome = ask(save) } else { note(error) }
            }
        }
        entry.end = now()
        if entry.outcome == .done || entry.outcome == .foundDone { latestSaved = sequence }
        write(entry)
    }

    /// Makes an order, or changes its stamp and that of all of its lines, of which there are more or fewer then.
    private func fill(
        _ found: NSManagedObject?, _ number: Int, _ stamp: String, _ context: NSManagedObjectContext
    ) {
        let order = found ?? NSEntityDescription.insertNewObject(forEntityName: "Order", into: context)
        let size = Int.random(in: 1...6, using: &random)
        order.setValue(number, forKey: "number")
        order.setValue(stamp, forKey: "stamp")
        order.setValue(size, forKey: "size")
        var lines = Array(order.value(forKey: "lines") as? Set<NSManagedObject> ?? [])
            .sorted { ($0.value(forKey: "position") as? Int ?? 0) < ($1.value(forKey: "position") as? Int ?? 0) }
        while lines.count > size { context.delete(lines.removeLast()) }
        while lines.count < size {
            let line = NSEntityDescription.insertNewObject(forEntityName: "Line", into: context)
            line.setValue(order, forKey: "order")
            lines.append(line)
        }
        for (position, line) in lines.enumerated() {
            line.setValue(position, forKey: "position")
            line.setValue(stamp, forKey: "stamp")
        }
    }

    /// Asks what became of a save until somebody says it.
    func ask(_ save: NSPostgreSQLUndecidedSave) -> Entry.Outcome {
        for _ in 0..<100 {
            if let isSaved = try? save.wasSaved(at: url, options: options) {
                return isSaved ? .foundDone : .foundUndone
            }
            usleep(200_000)
        }
        return .unknown
    }

    /// Somebody else was faster, or there was no server, or no room on it.
    static let usualErrors = [
        133_020, 133_021, 134_080, 134_030, 134_090, CocoaError.Code.fileWriteOutOfSpace.rawValue,
    ]

    /// Errors that say that nothing was saved are part of the game; those that say nothing are not.
    func note(_ error: any Error) {
        let error = error as NSError
        if !Self.usualErrors.contains(error.code) {
            journal.complain("client \(number): \(error.code) \(error.localizedDescription) \(error.userInfo)")
        }
    }

    func write(_ entry: Entry) { journal.write(entry) }
}
