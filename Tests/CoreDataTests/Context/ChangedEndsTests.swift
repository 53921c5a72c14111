import CoreData
import TestSupport
import Testing

@Suite("An object that a merge policy inserts again, whose other ends others have changed, too")
struct ChangedEndsTests {
    private static let policies: [NSMergePolicy] = [.overwrite, .mergeByPropertyObjectTrump]

    /// Teams with players, one of whom leads each.
    private static func model() -> NSManagedObjectModel {
        let team = Library.entity("Team", [Library.attribute("name", .stringAttributeType)])
        let player = Library.entity("Player", [Library.attribute("name", .stringAttributeType)])
        Library.connect(team, "players", toMany: true, player, "team")
        Library.connect(team, "captain", toMany: false, player, "leads")
        let model = NSManagedObjectModel()
        model.entities = [team, player]
        return model
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let team = context.make("Team", ["name": "T"])
            let players = ["1", "2", "3"].map { context.make("Player", ["name": $0, "team": team]) }
            team.setValue(players[0], forKey: "captain")
            try context.save()
        }
    }

    private func deleteTeam(in context: NSManagedObjectContext, _ change: () throws -> Void = {}) throws {
        try context.performAndWait {
            for team in try context.all("Team", NSPredicate(format: "name == 'T'")) { context.delete(team) }
            try change()
            try context.save()
        }
    }

    private func names(of team: NSManagedObject) -> [String] {
        let captain = team.value(forKey: "captain") as? NSManagedObject
        let isBoth = captain == nil || captain?.value(forKey: "leads") as? NSManagedObject === team
        let players = team.objects("players").filter { $0.value(forKey: "team") as? NSManagedObject === team }
        #expect(players.count == team.objects("players").count)
        return (captain.map { [$0.string("name") ?? "-"] } ?? []) + [isBoth ? "|" : "?"]
            + players.compactMap { $0.string("name") }.sorted()
    }

    private func storedNames(_ container: NSPersistentContainer) throws -> [String] {
        let fresh = container.newBackgroundContext()
        return try fresh.performAndWait {
            names(of: try #require(try fresh.all("Team", NSPredicate(format: "name == 'new'")).first))
        }
    }

    @Test("leads to them again, and they to it", arguments: policies, [false, true])
    func changed(policy: NSMergePolicy, isChild: Bool) throws {
        let container = try Library.inMemory(Self.model())
        let top = container.newBackgroundContext()
        top.mergePolicy = policy
        try fill(container.newBackgroundContext())
        var context = top
        if isChild {
            context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.parent = top
            context.mergePolicy = policy
        }
        try context.performAndWait {
            let team = try #require(try context.all("Team").first)
            #expect(names(of: team) == ["1", "|", "1", "2", "3"])
            try deleteTeam(in: container.newBackgroundContext())
            team.setValue("new", forKey: "name")
            (team.value(forKey: "captain") as? NSManagedObject)?.setValue("one", forKey: "name")
            try context.save()
            if isChild { try top.performAndWait { try top.save() } }
            #expect(names(of: team) == ["one", "|", "2", "3", "one"])
        }
        #expect(try storedNames(container) == ["one", "|", "2", "3", "one"])
    }

    @Test("does not take back those that lead to another object now")
    func taken() throws {
        let container = try Library.inMemory(Self.model())
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try fill(container.newBackgroundContext())
        try context.performAndWait {
            let team = try #require(try context.all("Team").first)
            #expect(names(of: team) == ["1", "|", "1", "2", "3"])
            let other = container.newBackgroundContext()
            try deleteTeam(in: other) {
                let rival = other.make("Team", ["name": "rival"])
                for player in try other.all("Player", NSPredicate(format: "name == '1'")) {
                    player.setValue(rival, forKey: "team")
                    player.setValue(rival, forKey: "leads")
                }
            }
            team.setValue("new", forKey: "name")
            (team.value(forKey: "captain") as? NSManagedObject)?.setValue("one", forKey: "name")
            try context.save()
            #expect(names(of: team) == ["|", "2", "3"])
        }
        #expect(try storedNames(container) == ["|", "2", "3"])
    }

    @Test("leaves ends that others deleted, and does not stop the program", arguments: policies)
    func gone(policy: NSMergePolicy) throws {
        let container = try Library.inMemory(Self.model())
        let context = container.newBackgroundContext()
        context.mergePolicy = policy
        context.shouldDeleteInaccessibleFaults = false
        try fill(container.newBackgroundContext())
        try context.performAndWait {
            let team = try #require(try context.all("Team").first)
            #expect(names(of: team) == ["1", "|", "1", "2", "3"])
            let players = team.objects("players")
            let other = container.newBackgroundContext()
            try deleteTeam(in: other) {
                for player in try other.all("Player", NSPredicate(format: "name != '3'")) { other.delete(player) }
            }
            team.setValue("new", forKey: "name")
            try context.save()
            #expect(names(of: team) == ["|", "3"])
            #expect(try Set(context.all("Player")) == team.objects("players"))
            #expect(players.count { $0.managedObjectContext == nil } == 2)
            #expect(!context.hasChanges)
        }
        #expect(try storedNames(container) == ["|", "3"])
    }

    @Test("has all its ends, also after a save in which they became unreadable")
    func unreadable() throws {
        let folder = try TestFolder()
        let file = folder.file("teams.sqlite")
        let container = try Library.stored(at: file, Self.model())
        let context = container.newBackgroundContext()
        let policy = BreakingPolicy(merge: .overwriteMergePolicyType)
        context.mergePolicy = policy
        try fill(container.newBackgroundContext())
        let entity = try #require(try plainNumber("SELECT Z_ENT FROM ZPLAYER LIMIT 1", in: file))
        try context.performAndWait {
            let team = try #require(try context.all("Team").first)
            #expect(names(of: team) == ["1", "|", "1", "2", "3"])
            try deleteTeam(in: container.newBackgroundContext())
            team.setValue("new", forKey: "name")
            policy.whenAsked = {
                #expect(throws: Never.self) { try execute("UPDATE ZPLAYER SET Z_ENT = 99", in: file) }
            }
            try? context.save()
            try execute("UPDATE ZPLAYER SET Z_ENT = \(entity)", in: file)
            try context.save()
            #expect(names(of: team) == ["1", "|", "1", "2", "3"])
        }
        let joined = "SELECT count(*) FROM ZTEAM JOIN ZPLAYER ON ZTEAM = ZTEAM.Z_PK WHERE ZTEAM.ZNAME = 'new'"
        #expect(try plainSQL(joined, in: file) == ["3"])
    }
}

/// Breaks the store before it resolves conflicts.
private final class BreakingPolicy: NSMergePolicy, @unchecked Sendable {
    var whenAsked: () -> Void = {}

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        whenAsked()
        try super.resolve(optimisticLockingConflicts: list)
    }
}
