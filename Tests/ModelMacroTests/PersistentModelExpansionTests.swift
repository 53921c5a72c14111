import Testing

@testable import ModelMacro

@Suite("What @Model writes")
struct PersistentModelExpansionTests {
    private func members(_ source: String, conformances: [String] = ["PersistentModel"]) -> MacroExpansion {
        PersistentModelExpansion(of: ClassDeclaration(source), conformances: conformances).members
    }

    @Test("are the members of Apple's names, with the class's access")
    func whole() {
        let expansion = members(
            """
            public final class Item {
                var timestamp: Date
                @Attribute(.unique, originalName: "key") private var id = UUID()
                #Index<Item>([\\.timestamp])
                init(timestamp: Date) { self.timestamp = timestamp }
            }
            """)
        #expect(expansion.problems.isEmpty)
        #expect(
            expansion.source == """
                private var _$backingData: any SwiftData::BackingData<Item> = Item.createBackingData()

                public var persistentBackingData: any SwiftData::BackingData<Item> {
                    get { _$backingData }
                    set { _$backingData = newValue }
                }

                public static var schemaMetadata: [SwiftData::Schema.PropertyMetadata] {
                    var metadata: [SwiftData::Schema.PropertyMetadata] = []
                    metadata.append(SwiftData::Schema.PropertyMetadata(name: "timestamp", keypath: \\Item.`timestamp`, \
                defaultValue: nil, metadata: nil))
                    metadata.append(SwiftData::Schema.PropertyMetadata(name: "id", keypath: \\Item.`id`, \
                defaultValue: (UUID()) as Any?, metadata: SwiftData::Schema.Attribute(.unique, originalName: "key")))
                    metadata.append(SwiftData::Schema.PropertyMetadata(name: "SwiftData.Schema.Index", \
                keypath: \\SwiftData::Schema.encodingVersion, metadata: SwiftData::Schema.Index<Item>([\\.timestamp])))
                    return metadata
                }

                public required init(backingData: any SwiftData::BackingData<Item>) {
                    _timestamp = _SwiftDataNoType()
                    _id = _SwiftDataNoType()
                    self._$backingData = backingData
                }

                public let _$observationRegistrar = Observation::ObservationRegistrar()

                public struct _SwiftDataNoType {
                    public init() {}
                }

                public func access<_M>(keyPath: Swift::KeyPath<Item, _M>) {
                    _$observationRegistrar.access(self, keyPath: keyPath)
                }

                public func withMutation<_M, _R>(
                    keyPath: Swift::KeyPath<Item, _M>, _ mutation: () throws -> _R
                ) rethrows -> _R {
                    try _$observationRegistrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
                """)
    }

    @Test("keep conditions of compilation around the properties that are under them")
    func conditions() {
        let source = members(
            """
            class Item {
                #if DEBUG && os(Linux)
                var note: String?
                #else
                var note = ""
                #endif
                init() {}
            }
            """
        ).source
        #expect(source.contains("class var schemaMetadata"))
        #expect(
            source.contains(
                """
                #if DEBUG && os(Linux)
                    _note = _SwiftDataNoType()
                #else
                    _note = _SwiftDataNoType()
                #endif
                """))
    }

    @Test("give initial values the types that are written")
    func defaults() {
        let source = members(
            "final class Item { var kind: Kind = .novel; var tags: [String] = []; var year = 1800; var x: Int!; init() {} }"
        ).source
        #expect(source.contains("defaultValue: (.novel) as Kind,"))
        #expect(source.contains("defaultValue: ([]) as [String],"))
        #expect(source.contains("defaultValue: (1800) as Any?,"))
        #expect(source.contains("keypath: \\Item.`x`, defaultValue: nil,"))
    }

    @Test(
        "leave out what is not persisted",
        arguments: [
            "@Transient let id = 1", "static var shared: Int = 1", "@Transient var cache = 1", "lazy var cache = 1",
            "var text: String { \"\" }", "var text: String { get { \"\" } set {} }",
        ])
    func notPersisted(_ member: String) {
        #expect(PersistentModelExpansion.attribute(ofMember: member) == MacroExpansion())
        #expect(members("final class Item { \(member)\ninit() {} }").problems.isEmpty)
    }

    @Test(
        "mark what is persisted",
        arguments: [
            ("var a: Int", "@SwiftData::_PersistedProperty"),
            ("private(set) var a = 1", "@SwiftData::_PersistedProperty"),
            ("@Attribute(.transformable(by: T.self)) var a: T?", "@SwiftData::_TransformablePersistedProperty"),
            ("var a = 1 { didSet { print(a) } }", "@SwiftData::_PersistedProperty"),
            ("let a: Int", "@SwiftData::_PersistedProperty"),
            ("let a = 1", "@SwiftData::_PersistedProperty"),
        ])
    func persisted(_ member: String, _ attribute: String) {
        #expect(PersistentModelExpansion.attribute(ofMember: member).source == attribute)
    }

    @Test(
        "refuse what cannot be a model, in words that say what to do",
        arguments: [
            ("struct Item { var a: Int }", "@Model can only be applied to a class, not to this struct."),
            ("class Item { var a = 1 }", "@Model requires an initializer be provided for 'Item'"),
            (
                "class Item { @Transient var a: Int; init() {} }",
                "@Transient requires 'a' to have an initial value, which it has after each fetch."
            ),
            (
                "class Item { var description: String; init() {} }",
                "A stored property cannot be named 'description'. Give it another name."
            ),
            (
                "class Item { var pair: (Int, Int); init() {} }",
                "'pair' is a tuple, which cannot be persisted. Make it a struct that is Codable, or mark it @Transient."
            ),
        ])
    func refused(_ source: String, _ problem: String) {
        #expect(members(source) == MacroExpansion(problems: [problem]))
    }

    @Test("join the backing data of a subclass with its superclass's, which the lack of a conformance shows")
    func subclass() {
        let source = members("class Trip: Journey { var x = 1; init() {} }", conformances: ["Observable"]).source
        #expect(source.contains("override var persistentBackingData: any SwiftData::BackingData<Journey.Root> {"))
        #expect(source.contains("override class var schemaMetadata: [SwiftData::Schema.PropertyMetadata] {"))
        #expect(source.contains("required init(backingData: any SwiftData::BackingData<Journey.Root>) {"))
        #expect(!source.contains("ObservationRegistrar()"))
    }

    @Test("are accessors of the backing data, and a property without a value for initializers")
    func property() {
        let expansion = PersistedPropertyExpansion(of: "var title: String = \"\"", isTransformable: false)
        #expect(expansion?.peer.source == "@SwiftData::Transient private var _title: _SwiftDataNoType")
        #expect(
            expansion?.accessors.source == """
                {
                    @storageRestrictions(accesses: _$backingData, initializes: _title)
                    init(initialValue) {
                        _$backingData.setValue(forKey: \\.`title`, to: initialValue)
                        _title = _SwiftDataNoType()
                    }
                    get { _$getValue(forKey: \\.`title`) }
                    set { _$setValue(forKey: \\.`title`, to: newValue) }
                }
                """)
    }

    @Test(
        "note the model that an initializer relates to another one, unless the type is one of values",
        arguments: [
            ("var author: Author?", true), ("var books: [Book] = []", true), ("var title: String", false),
            ("var tags: [String] = []", false), ("var year = 1800", false),
            ("@Attribute(.unique) var code: Code", false), ("@Relationship var book = Book()", true),
        ])
    func noting(_ source: String, _ notes: Bool) throws {
        let accessors = try #require(PersistedPropertyExpansion(of: source, isTransformable: false)?.accessors.source)
        let noting = """
                init(initialValue) {
                    SwiftData::_$noteModel(&_$backingData)
                    _$backingData.setValue
            """
        #expect(accessors.contains(noting) == notes)
    }

    @Test(
        "mark a class whose initializers may fail",
        arguments: [
            ("init() throws {}", true), ("init?() {}", true), ("init!() {}", true),
            ("init<T>(_ value: T) throws(E) where T: P {}", true), ("init(_ work: () throws -> Void = {}) {}", false),
            ("init() {}", false), ("init() {}\nfunc save() throws {}", false),
        ])
    func failing(_ initializer: String, _ fails: Bool) throws {
        let declaration = ClassDeclaration("final class Item {\nvar a: Int\n\(initializer)\n}")
        #expect(declaration.hasFailingInitializer == fails)
        let source = PersistentModelExpansion(of: declaration, conformances: ["PersistentModel"]).members.source
        #expect(source.contains("private let _$initializersMayFail: Swift::Void = ()") == fails)
    }

    @Test(
        "change an array in its place, where it is written as one",
        arguments: [
            ("var books: [Book] = []", true), ("var books = [Book]()", true), ("var books: Array<Book>?", true),
            ("var title: String", false), ("var title = \"[]\"", false),
            ("@Attribute(.transformable(by: T.self)) var marks: [Mark]", false),
        ])
    func modifying(_ source: String, _ isInPlace: Bool) throws {
        let expansion = PersistedPropertyExpansion(of: source, isTransformable: source.contains(".transformable"))
        let accessors = try #require(expansion?.accessors.source)
        let modifying = """
                _modify {
                    var value = _$beginModifying(forKey: \\.`books`)
                    defer { _$endModifying(forKey: \\.`books`, &value) }
                    yield &value
                }
            }
            """
        #expect(accessors.hasSuffix(modifying) == isInPlace)
        #expect(accessors.contains("_modify") == isInPlace)
    }

    @Test("are an executor and a container for an actor, and an initializer if it has none")
    func modelActor() {
        let expansion = ModelActorExpansion(of: ClassDeclaration("public actor Importer { func run() {} }")).members
        #expect(
            expansion.source == """
                public nonisolated let modelExecutor: any SwiftData::ModelExecutor

                public nonisolated let modelContainer: SwiftData::ModelContainer

                public init(modelContainer: SwiftData::ModelContainer) {
                    let modelContext = SwiftData::ModelContext(modelContainer)
                    self.modelExecutor = SwiftData::DefaultSerialModelExecutor(modelContext: modelContext)
                    self.modelContainer = modelContainer
                }
                """)
        let own = ModelActorExpansion(of: ClassDeclaration("actor Importer { init(x: Int) {} }")).members
        #expect(!own.source.contains("init("))
        #expect(
            ModelActorExpansion(of: ClassDeclaration("class Importer {}")).members.problems == [
                "@ModelActor can only be applied to an actor, not to this class."
            ])
    }
}
