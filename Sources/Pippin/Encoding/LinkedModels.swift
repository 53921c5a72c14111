import StoreSession

/// The models of one type, or the references, that a relationship of a saved model shall have.
protocol LinkedModels {
    var count: Int { get }
    /// All of them, in order.
    var all: [Any] { get }
    /// Puts them into a graph.
    ///
    /// - Parameters:
    ///   - builder: receives the models that it does not have yet.
    ///   - end: the relationship that they are in.
    /// - Returns: their nodes, in order.
    /// - Throws: ``PersistenceError/Code/unwritable`` for a model that is in the relationship twice.
    func link(into builder: inout GraphBuilder, _ end: GraphBuilder.LinkEnd) throws -> [Int]
}

extension GraphBuilder {
    /// The source, the field and the destination of a relationship.
    struct LinkEnd {
        let source: Int
        /// The index of the field.
        let field: Int
        let destination: GraphTable
        /// The number of the given model that the source is in, where the last one counts.
        let record: Int
    }
}

/// Models of a known type, without a box for each.
struct LinkedModelList<Model: CoreModel>: LinkedModels {
    let models: [Model]
    var count: Int { models.count }
    var all: [Any] { models }

    func link(into builder: inout GraphBuilder, _ end: GraphBuilder.LinkEnd) throws -> [Int] {
        try builder.link(models, end)
    }
}

/// References.
struct LinkedReferences: LinkedModels {
    let all: [Any]
    var count: Int { all.count }

    func link(into builder: inout GraphBuilder, _ end: GraphBuilder.LinkEnd) throws -> [Int] {
        try builder.link(all.compactMap { $0 as? any ModelReference }, end)
    }
}

extension ModelCollection {
    /// The members, for a graph.
    var linked: any LinkedModels {
        func typed<Model: CoreModel>(_ type: Model.Type) -> any LinkedModels {
            LinkedModelList(models: (ordered as? [Model]) ?? [])
        }
        guard let type = Self.member as? any CoreModel.Type else { return LinkedReferences(all: members) }
        return typed(type)
    }
}

/// The model, or the reference, of a relationship to one, for a graph.
func linkedModel(_ value: some Encodable) -> any LinkedModels {
    func typed<Model: CoreModel>(_ model: Model) -> any LinkedModels { LinkedModelList(models: [model]) }
    guard let model = value as? any CoreModel else { return LinkedReferences(all: [value]) }
    return typed(model)
}

/// Models that have nodes, and are to be encoded.
protocol WaitingModels {
    func encode(into builder: inout GraphBuilder) throws
}

/// Models of one list.
struct WaitingModelList<Model: CoreModel>: WaitingModels {
    let models: [Model]
    let picks: GraphBuilder.Picks

    func encode(into builder: inout GraphBuilder) throws { try builder.encode(models, picks) }
}

/// Further copies of models, which have nodes already.
protocol CopiedModels {
    /// - Throws: ``PersistenceError/Code/unwritable`` if one differs from the model that its node was made for, and
    ///   must not.
    func take(in builder: inout GraphBuilder) throws
}

/// Copies in one list.
struct CopiedModelList<Model: CoreModel>: CopiedModels {
    let models: [Model]
    let picks: GraphBuilder.Picks
    /// The number of the given model that they are in, where the last one counts.
    let record: Int
    /// Whether their relationships are complete.
    let areWhole: Bool

    func take(in builder: inout GraphBuilder) throws {
        try builder.takeCopies(models, picks, record: record, areWhole: areWhole)
    }
}
