import CoreData
import Foundation
import Pippin
import PippinRecords

/// The matrix of this way of coding.
package enum Matrix {
    #if BY_CODING
        package static let coding = "Codable"
    #else
        package static let coding = "@CoreModel"
    #endif

    package static let cells: [Cell] =
        flat(Wide.self) + flat(Numbers.self) + flat(Texts.self) + flat(Optionals.self) + flat(Nested.self)
        + flat(Enumerations.self) + flat(Blobs.self) + flat(Lists.self)
        + flat(ByInt.self) + flat(ByInt64.self) + flat(ByUUID.self) + flat(ByShortText.self) + flat(ByLongText.self)
        + flat(ByTag.self) + flat(BySerial.self) + flat(ByDate.self)
        + owners(OwnerOfOne.self) + owners(OwnerOfSome.self) + owners(OwnerOfMany.self)

    private static let finds = 5_000

    private static func flat<Model: Shape>(_ type: Model.Type) -> [Cell] {
        let shape = String(describing: type)
        let (count, few) = (Model.count, min(finds, Model.count))
        let empty: @Sendable (URL) async throws -> URL = { try await Stores<Model>.empty(in: $0) }
        var cells = [
            Cell(
                work: "fetch", shape: shape, items: count,
                sides: [Model.read { manager in total(try manager.readAndWait { try $0.fetch(Model.self) }) }]
                    + Model.byHand { total(try $0.fetch(Model.self)) } + grdbFetch(Model.self)),
            Cell(
                work: "find, in a block", shape: shape, items: few,
                sides: [
                    Model.read { manager in
                        try manager.readAndWait { store in
                            var sum = Sum()
                            for id in Model.someIDs(finds) { try store.find(Model.self, id: id)?.add(to: &sum) }
                            return [sum.total]
                        }
                    }
                ] + Model.byHand(findEach(Model.self)) + grdbFind(Model.self)),
            Cell(
                work: "find, each by itself", shape: shape, items: few,
                sides: [
                    Model.read { manager in
                        var sum = Sum()
                        for id in Model.someIDs(finds) { try await manager.find(Model.self, id: id)?.add(to: &sum) }
                        return [sum.total]
                    }
                ] + Model.byHand(findEach(Model.self))),
            Cell(
                work: "find, in one call", shape: shape, items: few,
                sides: [
                    Model.read { manager in
                        var sum = Sum()
                        for model in try await manager.find(Model.self, ids: Model.someIDs(few)) {
                            model.add(to: &sum)
                        }
                        return [sum.total]
                    }
                ]
                    + Model.byHand { database in
                        var sum = Sum()
                        for id in Model.someIDs(few) { try database.find(Model.self, id)?.add(to: &sum) }
                        return [sum.total]
                    }),
            Cell(
                work: "save new", shape: shape, items: count,
                sides: [writing(Model.make, into: empty)]
                    + handWriting(Model.make, into: empty) { try $0.insert($1) } + grdbInsert(Model.self)),
            Cell(
                work: "save, unchanged", shape: shape, items: count,
                sides: [writing(Model.make)] + handWriting(Model.make) { try $0.saveAgain($1) }),
            Cell(
                work: "save, one changed in each", shape: shape, items: count,
                sides: [writing({ changed(Model.self) })]
                    + handWriting({ changed(Model.self) }) { try $0.saveAgain($1) }),
            Cell(
                work: "delete", shape: shape, items: count / 2,
                sides: [
                    Model.write { manager in
                        let ids = Model.make().prefix(count / 2).map(\.id)
                        _ = try manager.writeAndWait { try $0.delete(Model.self, ids: ids) }
                    }
                ]
                    + Model.byHand(changing: { try $0.delete(Model.self, Model.make().prefix(count / 2).map(\.id)) })
            ),
        ]
        #if !BY_CODING
            cells.append(
                Cell(
                    work: "objects, by key", shape: shape, items: count,
                    sides: [objects(Model.self)] + Model.byHand { [UInt64(try $0.fetch(Model.self).count)] }))
        #endif
        return cells
    }

    private static func owners<Model: OwnerShape>(_ type: Model.Type) -> [Cell] {
        let shape = String(describing: type)
        let items = Model.count * (Model.members + 1)
        let empty: @Sendable (URL) async throws -> URL = { try await Stores<Model>.empty(in: $0) }
        var cells = [
            Cell(
                work: "fetch", shape: shape, items: items,
                sides: [Model.read { manager in total(try manager.readAndWait { try $0.fetch(Model.self) }) }]
                    + Model.byHand { total(try $0.fetchOwners(Model.self)) }),
            Cell(
                work: "save new", shape: shape, items: items,
                sides: [writing(Model.make, into: empty)]
                    + handWriting(Model.make, into: empty) { try $0.insertOwners($1) }),
            Cell(
                work: "save, unchanged", shape: shape, items: items,
                sides: [writing(Model.make)]
                    + handWriting(Model.make) { try $0.saveOwnersAgain($1) }),
            Cell(
                work: "save, one changed in each", shape: shape, items: items,
                sides: [writing({ changed(Model.self) })]
                    + handWriting({ changed(Model.self) }) { try $0.saveOwnersAgain($1) }),
        ]
        #if !BY_CODING
            cells.append(
                Cell(
                    work: "objects, prefetched, by key", shape: shape, items: items,
                    sides: [objects(Model.self)] + Model.byHand { [UInt64(try $0.fetchOwners(Model.self).count)] }))
        #endif
        return cells
    }

    // MARK: Parts

    private static func total<Model: Shape>(_ models: [Model]) -> Outcome {
        var sum = Sum()
        for model in models { model.add(to: &sum) }
        return [sum.total, UInt64(models.count)]
    }

    private static func findEach<Model: Shape>(
        _ type: Model.Type
    ) -> @Sendable (HandDatabase) throws -> Outcome {
        { database in
            var sum = Sum()
            for id in Model.someIDs(finds) { try database.find(Model.self, id)?.add(to: &sum) }
            return [sum.total]
        }
    }

    private static func changed<Model: Shape>(_ type: Model.Type) -> [Model] {
        Model.make().map { model in
            var model = model
            model.change()
            return model
        }
    }

    private static func writing<Model: Shape>(
        _ models: @escaping @Sendable () -> [Model],
        into store: @escaping @Sendable (URL) async throws -> URL = { try await Stores<Model>.filled(in: $0) }
    ) -> Side {
        Side(name: "Pippin") { folder in
            let file = try Stores<Model>.copy(try await store(folder))
            let (manager, models) = (try await Stores<Model>.manager(file), models())
            return Run(
                work: {
                    try manager.writeAndWait { try $0.save(models) }
                    return []
                },
                finish: {
                    await manager.close()
                    return try Model.outcome(file)
                })
        }
    }

    private static func handWriting<Model: Shape>(
        _ models: @escaping @Sendable () -> [Model],
        into store: @escaping @Sendable (URL) async throws -> URL = { try await Stores<Model>.filled(in: $0) },
        _ work: @escaping @Sendable (HandDatabase, [Model]) throws -> Void
    ) -> [Side] {
        [HandKind.usual, .best].map { kind in
            Side(name: kind == .usual ? "C" : "C at its best") { folder in
                let file = try Stores<Model>.copy(try await store(folder))
                let (opened, models) = (Opened(database: try HandDatabase(file, kind)), models())
                return Run(
                    work: {
                        try work(try opened.get(), models)
                        return []
                    },
                    finish: {
                        opened.close()
                        return try Model.outcome(file)
                    })
            }
        }
    }

    /// Managed objects whose every attribute is read by its key; with members, of those, too.
    private static func objects<Model: Shape>(_ type: Model.Type) -> Side {
        Side(name: "Pippin") { folder in
            let manager = try await Stores<Model>.manager(Stores<Model>.filled(in: folder))
            let context = manager.container.newBackgroundContext()
            let name = String(describing: Model.self)
            return Run(
                work: {
                    try context.performAndWait {
                        let request = NSFetchRequest<NSManagedObject>(entityName: name)
                        let entity = try entity(name, context)
                        let keys = Array(entity.attributesByName.keys)
                        let member = entity.relationshipsByName["members"]?.destinationEntity
                        let memberKeys = member.map { Array($0.attributesByName.keys) } ?? []
                        if member != nil { request.relationshipKeyPathsForPrefetching = ["members"] }
                        let found = try context.fetch(request)
                        var read = 0
                        for object in found {
                            for key in keys where object.value(forKey: key) != nil { read += 1 }
                            guard member != nil, let members = object.value(forKey: "members") as? NSOrderedSet
                            else { continue }
                            for case let member as NSManagedObject in members {
                                for key in memberKeys where member.value(forKey: key) != nil { read += 1 }
                            }
                        }
                        guard read > found.count else { throw HandError(message: "\(read) values were read") }
                        return [UInt64(found.count)]
                    }
                },
                finish: {
                    await manager.close()
                    return []
                })
        }
    }

    private static func entity(_ name: String, _ context: NSManagedObjectContext) throws -> NSEntityDescription {
        let model = context.persistentStoreCoordinator?.managedObjectModel
        guard let entity = model?.entitiesByName[name] else { throw HandError(message: "no entity \(name)") }
        return entity
    }
}
