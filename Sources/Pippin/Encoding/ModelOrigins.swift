import StoreSession

/// Where the models are that a graph's nodes were made for. The builder keeps the lists that they are in.
struct ModelOrigins {
    // Unsafe memory: each points to a model of the node's type, in the memory of a list that the builder keeps
    // unchanged as long as it keeps this.
    private var models: ContiguousArray<UnsafeRawPointer?> = []

    mutating func reserve(_ count: Int) { models.reserveCapacity(models.count + count) }

    /// Adds a node with the place of its model; nil for a reference, and where memory cannot be compared.
    mutating func append(_ origin: UnsafeRawPointer?) { models.append(origin) }

    /// The place of a list of models.
    ///
    /// - Parameters:
    ///   - models: the list.
    ///   - plan: the entity of the nodes. Coding may encode a model of another type than it decodes.
    /// - Returns: where it begins; nil where the models' memory cannot be compared with that of other ones.
    static func start<Model: CoreModel>(of models: [Model], _ plan: EntityPlan) -> UnsafeRawPointer? {
        guard ObjectIdentifier(Model.self) == plan.id else { return nil }
        return models.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
    }

    /// The place of a model.
    ///
    /// - Parameters:
    ///   - start: where the model's list begins.
    ///   - index: the model's index in the list.
    ///   - type: the model's type.
    /// - Returns: where it is; nil without a start.
    @inline(__always)
    static func origin<Model: CoreModel>(
        _ start: UnsafeRawPointer?, _ index: Int, _ type: Model.Type
    ) -> UnsafeRawPointer? {
        start.map { $0 + index * MemoryLayout<Model>.stride }
    }

    mutating func set(_ node: Int, _ origin: UnsafeRawPointer?) { models[node] = origin }

    /// The model that a node was made for; nil where it is of another type.
    func model<Model: CoreModel>(_ node: Int, of plan: EntityPlan, _ type: Model.Type = Model.self) -> Model? {
        guard ObjectIdentifier(type) == plan.id else { return nil }
        return models[node].map { $0.assumingMemoryBound(to: type).pointee }
    }

    /// Whether a model is certainly equal to the one that a node was made for, since its memory is. It is passed
    /// `inout` to avoid a copy, and not changed.
    ///
    /// - Parameters:
    ///   - model: a model.
    ///   - start: where the model's list begins; nil if its memory cannot be compared.
    ///   - node: the node.
    /// - Returns: whether they are the same; false where that is not certain.
    @inline(__always)
    func isCopy<Model: CoreModel>(_ model: inout Model, _ start: UnsafeRawPointer?, of node: Int) -> Bool {
        guard start != nil, let known = models[node] else { return false }
        return withUnsafeBytes(of: &model) {
            $0.baseAddress.map { memcmp(known, $0, MemoryLayout<Model>.size) == 0 } ?? false
        }
    }
}
