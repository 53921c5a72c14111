import CoreDataPostgres
import Foundation

/// How much a cluster does when nothing is broken: figures, and no verdict.
enum Measurement {
    /// One program that saves, or reads, as fast as it can.
    ///
    /// - Parameters:
    ///   - kind: `save`, `read` (from the primary) or `look` (from standbys).
    ///   - connection: the servers.
    ///   - number: which one of several it is.
    ///   - seconds: how long.
    /// - Returns: how often it did.
    /// - Throws: the errors of the store.
    static func work(_ kind: String, _ connection: String, number: Int, seconds: Double) throws -> Int {
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: Shop.model())
        let description = NSPersistentStoreDescription(postgreSQLConnection: connection)
        description.setOption((kind == "look") as NSNumber, forKey: NSPostgreSQLStandbyReadsOption)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        let end = now() + UInt64(seconds * 1e9)
        var count = 0
        while now() < end {
            let context = container.newBackgroundContext()
            try context.performAndWait {
                if kind == "save" {
                    let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: context)
                    order.setValue(1_000_000 * (number + 1) + count, forKey: "number")
                    order.setValue(3, forKey: "size")
                    for position in 0..<3 {
                        let line = NSEntityDescription.insertNewObject(forEntityName: "Line", into: context)
                        line.setValue(position, forKey: "position")
                        line.setValue(order, forKey: "order")
                    }
                    try context.save()
                } else {
                    try context.setQueryGenerationFrom(.current)
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
                    request.predicate = NSPredicate(format: "number == %d", 1_000_000 + count % 100)
                    request.relationshipKeyPathsForPrefetching = ["lines"]
                    _ = try context.fetch(request)
                }
            }
            count += 1
        }
        return count
    }

    /// Starts programs that work at the same time.
    ///
    /// - Returns: how often they did it in a second, all together.
    private static func rate(_ kind: String, clients: Int, _ cluster: Cluster) throws -> Double {
        let seconds = 8.0
        let children = try (0..<clients).map { number in
            let child = Process()
            child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            child.arguments = [
                "work", kind, cluster.connection, "\(number + clients * 100)", "\(seconds)",
                "\(cluster.folder)/count-\(number)",
            ]
            child.currentDirectoryURL = URL(fileURLWithPath: cluster.folder)
            try child.run()
            return child
        }
        for child in children { child.waitUntilExit() }
        let counts = (0..<clients).map {
            (try? String(contentsOfFile: "\(cluster.folder)/count-\($0)", encoding: .utf8)).flatMap(Int.init) ?? 0
        }
        return Double(counts.reduce(0, +)) / seconds
    }

    static func run(firstPort: UInt16) throws {
        let cluster = try Cluster(firstPort: firstPort)
        defer { cluster.stop(keepsFolder: false) }
        for index in 0..<Cluster.size { try cluster.startMember(index) }
        try cluster.waitForMembers()
        for index in 0..<Cluster.size { try cluster.startNode(index) }
        try cluster.waitUntilWhole(seconds: 120)
        _ = try work("save", cluster.connection, number: 0, seconds: 2)
        for clients in [1, 8, 32] {
            print(
                String(format: "saves a second, %d clients: %.0f", clients, try rate("save", clients: clients, cluster))
            )
        }
        print(
            String(
                format: "readings a second, 8 clients, without standbys: %.0f", try rate("read", clients: 8, cluster)))
        print(String(format: "readings a second, 8 clients, two standbys: %.0f", try rate("look", clients: 8, cluster)))
        guard
            let standby = cluster.state().first(where: { $0.role == "replica" }).flatMap({ Int($0.name.dropFirst(4)) })
        else { return }
        cluster.nodes[standby].killAll()
        print(String(format: "readings a second, 8 clients, one standby: %.0f", try rate("look", clients: 8, cluster)))
    }
}
