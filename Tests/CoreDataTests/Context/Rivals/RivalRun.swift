import CoreData
import Foundation
import TestSupport

/// Three rivals on one store: two with a coordinator in common, one with its own.
final class RivalRun {
    private var random: SplitMix
    private let folder: TestFolder
    private let coordinators: [NSPersistentStoreCoordinator]
    private let rivals: [Rival]
    private var last = 0

    init(seed: UInt64) throws {
        random = SplitMix(state: seed)
        folder = try TestFolder()
        let model = RivalModel.make()
        let url = folder.store
        coordinators = try (0..<2).map { _ in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(type: .sqlite, at: url)
            return coordinator
        }
        var random = random
        rivals = [0, 0, 1].map { [coordinators] number in
            Rival(
                Rival.Policy.allCases.randomElement(using: &random) ?? .error, coordinators[number],
                mergesByItself: Int.random(in: 0..<3, using: &random) == 0)
        }
        self.random = random
    }

    func run(steps: Int) throws {
        for _ in 0..<steps {
            let rival = rivals[below(rivals.count)]
            do { try rival.context.performAndWait { try step(of: rival) } } catch {
                throw RivalFailure("\(rival.policy): \(error)")
            }
        }
        _ = try stored()
    }

    /// What the store has, as a context sees it that has read nothing before.
    private func stored() throws -> RivalPicture {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinators[below(2)]
        context.stalenessInterval = 0
        return try context.performAndWait { try RivalPicture(of: context, checksInverses: true) }
    }

    private func step(of rival: Rival) throws {
        let context = rival.context
        let (people, tags) = (try context.all("Person", by: "number"), try context.all("Tag", by: "number"))
        let choice = below(100)
        guard people.count + tags.count > 3, choice >= 12 else {
            last += 1
            context.make(below(2) == 0 ? "Person" : "Tag", ["number": last])
            return
        }
        switch choice {
        case 12..<30: (people + tags)[below(people.count + tags.count)].setValue(below(5), forKey: "level")
        case 30..<62: if let person = one(of: people) { change(person, people, tags) }
        case 62..<67: context.delete((people + tags)[below(people.count + tags.count)])
        case 67..<70: context.refreshAllObjects()
        case 70..<72: context.rollback()
        case 72..<74: context.reset()
        default: try save(rival)
        }
    }

    private func change(_ person: NSManagedObject, _ people: [NSManagedObject], _ tags: [NSManagedObject]) {
        switch below(5) {
        case 0: person.setValue(["x", "y", "z"][below(3)], forKey: "name")
        case 1: person.setValue(below(4) == 0 ? nil : one(of: people), forKey: "boss")
        case 2:
            guard let tag = one(of: tags) else { return }
            let set = person.mutableSetValue(forKey: "tags")
            if below(2) == 0 { set.add(tag) } else { set.remove(tag) }
        case 3: person.setValue(NSOrderedSet(array: tags.filter { _ in below(3) == 0 }), forKey: "list")
        default: one(of: tags)?.setValue(below(4) == 0 ? nil : person, forKey: "owner")
        }
    }

    private func save(_ rival: Rival) throws {
        let context = rival.context
        let before = try stored()
        let forecast = rival.forecast(of: before)
        // Only this policy lets a save fail. Reading everything for the others would spare them what they have not
        // read.
        let pending = rival.policy == .error ? try RivalPicture(of: context) : nil
        do { try context.save() } catch {
            guard let pending else { throw error }
            if let difference = try stored().difference(from: before) {
                throw RivalFailure("a failed save changed the store: \(difference)")
            }
            if let difference = try RivalPicture(of: context).difference(from: pending) {
                throw RivalFailure("a failed save changed the context: \(difference)")
            }
            if below(2) == 0 { context.rollback() } else { context.refreshAllObjects() }
            return
        }
        try rival.check(forecast, in: stored())
    }

    private func one(of objects: [NSManagedObject]) -> NSManagedObject? {
        objects.isEmpty ? nil : objects[below(objects.count)]
    }

    private func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
}
