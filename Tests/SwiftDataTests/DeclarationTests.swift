import Foundation
import SwiftData
import TestSupport
import Testing

/// A model of the forms in which programs write theirs.
@Model
public final class Specimen {
    @Transient let kind = "specimen"
    static let all = "all"
    /// A name that others may read.
    public private(set) var name: String
    private var secret: Int
    var inferred = [Int]()
    var `default` = true
    var forced: String!
    var note: String? = nil
    var watched = 1 {
        didSet { count += 1 }
    }
    @Transient private(set) var count = 0
    lazy var cached = name.count
    var upper: String { name.uppercased() }
    #if os(Linux)
        var onLinux = "yes"
    #else
        var elsewhere = "no"
    #endif
    var nested: Nested = Nested.first(1)

    enum Nested: Codable, Equatable {
        case first(Int)
        case second(text: String, flag: Bool)
        case third
    }

    struct Negative: Error {}

    /// Fails for a negative secret.
    public init(name: String, secret: Int = 7) throws {
        if secret < 0 { throw Negative() }
        if name.isEmpty {
            self.name = "none"
            self.secret = 0
        } else {
            self.name = name
            self.secret = secret
        }
        self.name = self.name + "!"
        finish()
    }

    convenience init() throws { try self.init(name: "convenient") }

    private func finish() { secret += 1 }

    var shown: Int { secret }
}

/// A model whose program writes an initializer's accessor of its own against the macro's names.
@Model
final class Handmade {
    var hours: Int
    var minutes: Int

    @Transient
    var time: Double {
        @storageRestrictions(accesses: _$backingData, initializes: _hours, _minutes)
        init {
            _$backingData.setValue(forKey: \.hours, to: Int(newValue))
            _$backingData.setValue(forKey: \.minutes, to: Int(newValue * 60) % 60)
            _hours = _SwiftDataNoType()
            _minutes = _SwiftDataNoType()
        }
        get { Double(hours) + Double(minutes) / 60 }
        set {
            hours = Int(newValue)
            minutes = Int(newValue * 60) % 60
        }
    }

    init(time: Double) { self.time = time }
}

/// Names that the macro's own code uses for other things are free for programs.
@Model
final class Tag {
    var schema: String
    var index: Int

    init(schema: String, index: Int) {
        self.schema = schema
        self.index = index
    }
}

@Suite("A model's declaration")
struct DeclarationFormTests {
    @Test("may initialize its properties in all ways, and has them after a fetch")
    func forms() throws {
        let library = try Library(Specimen.self)
        let specimen = try Specimen(name: "a")
        #expect(specimen.name == "a!")
        #expect(specimen.shown == 8)
        #expect(try Specimen(name: "").shown == 1)
        #expect(try Specimen().name == "convenient!")
        #expect(throws: Specimen.Negative.self) { try Specimen(name: "b", secret: -1) }
        specimen.nested = .second(text: "t", flag: true)
        specimen.forced = "f"
        specimen.inferred = [3, 1]
        library.context.insert(specimen)
        try library.context.save()
        let found = try #require(try library.fetched(by: SortDescriptor(\Specimen.name)).first)
        #expect(found.name == "a!")
        #expect(found.shown == 8)
        #expect(found.nested == .second(text: "t", flag: true))
        #expect(found.forced == "f")
        #expect(found.inferred == [3, 1])
        #expect(found.default)
        #expect(found.onLinux == "yes")
        #expect(found.kind == "specimen")
        #expect(found.cached == 2)
    }

    @Test("has properties whose observers are not called, as Apple's are not")
    func observers() throws {
        let specimen = try Specimen(name: "a")
        specimen.watched = 5
        #expect(specimen.watched == 5)
        #expect(specimen.count == 0)
    }

    @Test("may have accessors of the program's own for initializers")
    func handmade() throws {
        let library = try Library(Handmade.self)
        library.context.insert(Handmade(time: 7.5))
        try library.context.save()
        let found = try library.fetched(by: SortDescriptor(\Handmade.hours))
        #expect(found.map(\.hours) == [7])
        #expect(found.map(\.minutes) == [30])
        #expect(found.map(\.time) == [7.5])
    }

    @Test("may have names that SwiftData uses itself")
    func names() throws {
        let library = try Library(Tag.self)
        library.context.insert(Tag(schema: "a", index: 1))
        try library.context.save()
        #expect(try library.fetched(by: SortDescriptor(\Tag.index)).map(\.schema) == ["a"])
    }
}

/// Values of types whose coding is not the compiler's.
@Model
final class Values {
    var renamed: Renamed?
    var range: Range<Int> = 1..<3
    var options: Options = []
    var list: [Renamed] = []
    var table: [String: Int] = [:]
    var set: Set<String> = []
    var recursive: Tree?
    var optionalKind: Book.Kind?
    var small: UInt8 = 0
    var large: UInt64 = 0
    var link: URL?
    var bytes: Data?

    struct Renamed: Codable, Equatable {
        var first: Int
        var second: String?
        enum CodingKeys: String, CodingKey { case first = "1st", second = "2nd" }
    }

    struct Options: OptionSet, Codable { let rawValue: Int }

    indirect enum Tree: Codable, Equatable { case leaf, node(Tree, Tree) }

    init() {}
}

@Suite("A value")
struct ValueTests {
    @Test("is the same after a save, of each kind that is Codable")
    func roundTrip() throws {
        let folder = try TestFolder()
        let container = try ModelContainer(for: Values.self, configurations: ModelConfiguration(url: folder.store))
        let context = ModelContext(container)
        let values = Values()
        values.renamed = Values.Renamed(first: 1, second: "b")
        values.range = 4..<9
        values.options = Values.Options(rawValue: 5)
        values.list = [Values.Renamed(first: 1, second: nil), Values.Renamed(first: 2, second: "c")]
        values.table = ["a": 1]
        values.set = ["x", "y"]
        values.recursive = .node(.leaf, .node(.leaf, .leaf))
        values.optionalKind = .play
        values.small = 255
        values.large = 1 << 62
        values.link = URL(string: "https://swift.org")
        values.bytes = Data([0, 255])
        context.insert(values)
        try context.save()
        let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Values>()).first)
        #expect(found.renamed == values.renamed)
        #expect(found.range == 4..<9)
        #expect(found.options.rawValue == 5)
        #expect(found.list == values.list)
        #expect(found.table == ["a": 1])
        #expect(found.set == ["x", "y"])
        #expect(found.recursive == values.recursive)
        #expect(found.optionalKind == .play)
        #expect(found.small == 255)
        #expect(found.large == 1 << 62)
        #expect(found.link == values.link)
        #expect(found.bytes == values.bytes)
    }

    @Test("has its elements in columns with the names of the stored properties, not of the coding keys")
    func elementNames() throws {
        let folder = try TestFolder()
        let container = try ModelContainer(for: Values.self, configurations: ModelConfiguration(url: folder.store))
        let context = ModelContext(container)
        let values = Values()
        values.renamed = Values.Renamed(first: 1, second: "b")
        context.insert(values)
        try context.save()
        #expect(try plainSQL("SELECT ZFIRST, ZSECOND FROM ZVALUES", in: folder.store) == ["1|b"])
    }

    @Test("is refused by the save if its attribute cannot hold it, and shown until then")
    func tooLarge() throws {
        let library = try Library(Values.self)
        let values = Values()
        values.large = .max
        library.context.insert(values)
        #expect(values.large == .max)
        #expect(throws: SwiftDataError.modelValidationFailure) { try library.context.save() }
        values.large = 1
        try library.context.save()
    }
}
