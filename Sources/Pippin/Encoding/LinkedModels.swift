import CoreData

/// The models of one type, or the references, that a relationship of a saved model shall have.
protocol LinkedModels {
    var count: Int { get }
    /// All of them, in order.
    var all: [Any] { get }
    /// Puts them into a graph.
    ///
    /// - Parameters:
    ///   - graph: receives the models that it does not have yet.
    ///   - end: the relationship that they are in.
    /// - Returns: their nodes, in order.
    /// - Throws: ``PersistenceError/Code/unwritable`` for a model that is in the relationship twice.
    func link(into graph: inout ModelGraph, _ end: ModelGraph.LinkEnd) throws -> [Int]
}

/// Models of a known type, without a box for each.
struct LinkedModelList<Model: CoreModel>: LinkedModels {
    let models: [Model]
    var count: Int { models.count }
    var all: [Any] { models }

    func link(into graph: inout ModelGraph, _ end: ModelGraph.LinkEnd) throws -> [Int] {
        try graph.link(models, end)
    }
}

/// References.
struct LinkedReferences: LinkedModels {
    let all: [Any]
    var count: Int { all.count }

    func link(into graph: inout ModelGraph, _ end: ModelGraph.LinkEnd) throws -> [Int] {
        try graph.link(all.compactMap { $0 as? any ModelReference }, end)
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
    func encode(into graph: inout ModelGraph) throws
}

/// Models of one list.
struct WaitingModelList<Model: CoreModel>: WaitingModels {
    let models: [Model]
    /// The indexes of the models, and their nodes.
    let picks: ContiguousArray<(index: Int, node: Int)>

    func encode(into graph: inout ModelGraph) throws { try graph.encode(models, picks) }
}

/// Further copies of models, which have nodes already.
protocol CopiedModels {
    /// - Throws: ``PersistenceError/Code/unwritable`` if one differs from the model that its node was made for, and
    ///   must not.
    func take(in graph: inout ModelGraph) throws
}

/// Copies in one list.
struct CopiedModelList<Model: CoreModel>: CopiedModels {
    let models: [Model]
    /// The indexes of the models, and their nodes.
    let picks: ContiguousArray<(index: Int, node: Int)>
    /// The number of the given model that they are in, where the last one counts.
    let record: Int
    /// Whether their relationships are complete.
    let areWhole: Bool

    func take(in graph: inout ModelGraph) throws {
        try graph.takeCopies(models, picks, record: record, areWhole: areWhole)
    }
}
