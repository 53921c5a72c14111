import Foundation

// The works by hand, for any shape: statements are kept, arrays reserved, columns read by place.
extension HandDatabase {
    func fetch<Model: Shape>(_ type: Model.Type, order: String = "") throws -> [Model] {
        var statement = try statement("SELECT \(Model.columns.joined(separator: ", ")) FROM \(Model.table)\(order)")
        defer { statement.reset() }
        var models: [Model] = []
        models.reserveCapacity(Model.count)
        while try statement.step() { models.append(Model(row: statement, at: 0)) }
        return models
    }

    /// Two statements in the order of the owners; members are taken to their owner as they come.
    func fetchOwners<Model: OwnerShape>(_ type: Model.Type) throws -> [Model] {
        let foreignKey = "Z" + "membersOf".uppercased() + Model.table.dropFirst()
        var owners = try statement(
            "SELECT Z_PK, \(Model.columns.joined(separator: ", ")) FROM \(Model.table) ORDER BY Z_PK")
        defer { owners.reset() }
        var members = try statement(
            """
            SELECT \(foreignKey), \(Model.Member.columns.joined(separator: ", ")) FROM \(Model.Member.table)
            ORDER BY \(foreignKey), Z_FOK_\(foreignKey.dropFirst())
            """)
        defer { members.reset() }
        var models: [Model] = []
        models.reserveCapacity(Model.count)
        var isMember = try members.step()
        while try owners.step() {
            let key = owners.integer(0)
            var model = Model(row: owners, at: 1)
            var own: [Model.Member] = []
            own.reserveCapacity(Model.members)
            while isMember, members.integer(0) <= key {
                own.append(Model.Member(row: members, at: 1))
                isMember = try members.step()
            }
            model.members = own
            models.append(model)
        }
        return models
    }

    func find<Model: Shape>(_ type: Model.Type, _ id: Model.ID) throws -> Model? {
        var statement = try statement(
            "SELECT \(Model.columns.joined(separator: ", ")) FROM \(Model.table) WHERE ZID = ?")
        defer { statement.reset() }
        Model.bind(id: id, to: &statement)
        return try statement.step() ? Model(row: statement, at: 0) : nil
    }

    func insert<Model: Shape>(_ models: [Model]) throws {
        try execute("BEGIN IMMEDIATE")
        var statement = try insertion(Model.self)
        for (index, model) in models.enumerated() {
            statement.integer(Int64(index + 1))
            model.bind(to: &statement)
            try statement.run()
        }
        try setLastKey(of: Model.self, models.count)
        try execute("COMMIT")
    }

    func insertOwners<Model: OwnerShape>(_ models: [Model]) throws {
        let foreignKey = "Z" + "membersOf".uppercased() + Model.table.dropFirst()
        try execute("BEGIN IMMEDIATE")
        var owner = try insertion(Model.self)
        var member = try insertion(Model.Member.self, [foreignKey, "Z_FOK_\(foreignKey.dropFirst())"])
        var lastMember: Int64 = 0
        for (index, model) in models.enumerated() {
            owner.integer(Int64(index + 1))
            model.bind(to: &owner)
            try owner.run()
            for (place, own) in model.members.enumerated() {
                lastMember += 1
                member.integer(lastMember)
                own.bind(to: &member)
                member.integer(Int64(index + 1))
                member.integer(Int64(place + 2) * 1024)
                try member.run()
            }
        }
        try setLastKey(of: Model.self, models.count)
        try setLastKey(of: Model.Member.self, Int(lastMember))
        try execute("COMMIT")
    }

    /// Known rows are read and compared; what differs is written.
    func saveAgain<Model: Shape>(_ models: [Model]) throws {
        try execute("BEGIN IMMEDIATE")
        var known: [Model.ID: Model] = [:]
        known.reserveCapacity(models.count)
        for model in try fetch(Model.self) { known[model.id] = model }
        var update = try update(Model.self)
        for model in models where known[model.id] != model {
            model.bind(to: &update)
            Model.bind(id: model.id, to: &update)
            try update.run()
        }
        try execute("COMMIT")
    }

    func saveOwnersAgain<Model: OwnerShape>(_ models: [Model]) throws {
        try execute("BEGIN IMMEDIATE")
        var known: [Model.ID: Model] = [:]
        known.reserveCapacity(models.count)
        for model in try fetchOwners(Model.self) { known[model.id] = model }
        var update = try update(Model.Member.self)
        for model in models {
            guard let former = known[model.id] else { continue }
            for (old, new) in zip(former.members, model.members) where old != new {
                new.bind(to: &update)
                Model.Member.bind(id: new.id, to: &update)
                try update.run()
            }
        }
        try execute("COMMIT")
    }

    func delete<Model: Shape>(_ type: Model.Type, _ ids: [Model.ID]) throws {
        try execute("BEGIN IMMEDIATE")
        var statement = try statement("DELETE FROM \(Model.table) WHERE ZID = ?")
        for id in ids {
            Model.bind(id: id, to: &statement)
            try statement.run()
        }
        try execute("COMMIT")
    }

    private func insertion<Model: Shape>(_ type: Model.Type, _ others: [String] = []) throws -> HandStatement {
        let columns = Model.columns + others
        let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        let entity = try statement("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE upper('Z' || Z_NAME) = '\(Model.table)'")
        _ = try entity.step()
        return try statement(
            """
            INSERT INTO \(Model.table) (Z_ENT, Z_OPT, Z_PK, \(columns.joined(separator: ", ")))
            VALUES (\(entity.integer(0)), 1, ?, \(marks))
            """)
    }

    private func update<Model: Shape>(_ type: Model.Type) throws -> HandStatement {
        let columns = Model.columns.map { "\($0) = ?" }.joined(separator: ", ")
        return try statement("UPDATE \(Model.table) SET Z_OPT = Z_OPT + 1, \(columns) WHERE ZID = ?")
    }

    private func setLastKey<Model: Shape>(of type: Model.Type, _ key: Int) throws {
        try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(key) WHERE upper('Z' || Z_NAME) = '\(Model.table)'")
    }
}
