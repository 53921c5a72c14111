import CoreData
import Testing

@Suite("Predicates and expressions in source models")
struct SourcePredicateTests {
    private func model(_ elements: String) throws -> NSManagedObjectModel {
        try ModelAssembler.model(SourceReaderTests.read(elements))
    }

    @Test("Bounds and patterns become validation predicates with Core Data's error codes")
    func validation() throws {
        let model = try model(
            """
            <entity name="E">
                <attribute name="age" attributeType="Integer 16" minValueString="0" maxValueString="150"/>
                <attribute name="code" attributeType="String" minValueString="2" maxValueString="3"
                    regularExpressionString="[A-Z]+"/>
                <attribute name="born" attributeType="Date" minDateTimeInterval="0"/>
            </entity>
            """)
        let attributes = try #require(model.entitiesByName["E"]).attributesByName
        let age = try #require(attributes["age"])
        #expect(age.validationPredicates.map(formatString) == ["SELF >= 0", "SELF <= 150"])
        #expect(age.validationWarnings as? [Int] == [1620, 1610])
        #expect(age.validationPredicates[1].evaluate(with: 150))
        #expect(!age.validationPredicates[1].evaluate(with: 151))
        let code = try #require(attributes["code"])
        #expect(
            code.validationPredicates.map(formatString)
                == ["length >= 2", "length <= 3", "SELF MATCHES \"[A-Z]+\""])
        #expect(code.validationWarnings as? [Int] == [1670, 1660, 1680])
        #expect(attributes["born"]?.validationWarnings as? [Int] == [1640])
    }

    @Test("Derived attributes have their expression")
    func derived() throws {
        let model = try model(
            """
            <entity name="E">
                <attribute name="name" attributeType="String"/>
                <attribute name="search" optional="YES" attributeType="String" derived="YES"
                    derivationExpression="canonical:(name)"/>
                <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES"
                    derivationExpression="parts.@count"/>
                <attribute name="changed" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
                <relationship name="parts" toMany="YES" destinationEntity="E"/>
            </entity>
            """)
        let attributes = try #require(model.entitiesByName["E"]).attributesByName
        let expressions = ["search", "count", "changed"].map {
            (attributes[$0] as? NSDerivedAttributeDescription)?.derivationExpression?.description
        }
        #expect(expressions == ["canonical:(name)", "parts.@count", "now()"])
    }

    @Test("Fetched properties and templates have their requests")
    func requests() throws {
        let model = try model(
            """
            <entity name="Book"><attribute name="stars" attributeType="Integer 16"/>
                <fetchedProperty name="better" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Book"
                        predicateString="stars &gt; $FETCH_SOURCE.stars"/>
                </fetchedProperty>
            </entity>
            <fetchRequest name="withStars" entity="Book" predicateString="stars == $STARS" fetchLimit="5"
                includeSubentities="NO" returnObjectsAsFaults="NO"/>
            """)
        let book = try #require(model.entitiesByName["Book"])
        let fetched = try #require(book.propertiesByName["better"] as? NSFetchedPropertyDescription)
        #expect(fetched.fetchRequest?.entity === book)
        #expect(fetched.fetchRequest?.predicate.map(formatString) == "stars > $FETCH_SOURCE.stars")
        let template = try #require(model.fetchRequestTemplate(forName: "withStars"))
        #expect(template.fetchLimit == 5)
        #expect(!template.includesSubentities)
        #expect(!template.returnsObjectsAsFaults)
        let request = model.fetchRequestFromTemplate(withName: "withStars", substitutionVariables: ["STARS": 4])
        #expect(request?.predicate.map(formatString) == "stars == 4")
    }

    @Test(
        "What does not parse is refused, with its place",
        arguments: [
            (
                #"<attribute name="d" attributeType="Date" derived="YES" derivationExpression="now("/>"#,
                "expression “now(”"
            ),
            (
                #"<fetchedProperty name="d"><fetchRequest name="f" entity="E" predicateString="a ="/></fetchedProperty>"#,
                "predicate “a =”"
            ),
        ])
    func broken(element: String, part: String) throws {
        let error = #expect(throws: ModelFileError.self) { try model("<entity name=\"E\">\(element)</entity>") }
        #expect(error?.entity == "E")
        #expect(error?.property == "d")
        #expect(error?.reason.contains("the \(part) does not parse") == true)
    }

    @Test(
        "Predicates survive the archive",
        arguments: [
            "age >= 18 AND NOT name == \"x\"", "ANY books.title BEGINSWITH[cd] \"a\"", "name IN {\"a\", \"b\"}",
            "name LIKE[c] \"*x?\" OR name ENDSWITH \"y\"", "age BETWEEN {1, 5}", "name CONTAINS[c] $PART",
            "books.@count > 3 AND ALL books.stars != nil", "SUBQUERY(books, $b, $b.stars > 3).@count > 1",
            "price * 2 + 1 < limit", "lowercase:(name) MATCHES \"[a-z]+\"", "TRUEPREDICATE", "authors[FIRST] == SELF",
            "date > CAST(12.5, \"NSDate\")", "name == nil",
        ])
    func predicates(format: String) throws {
        var document = try SourceReaderTests.read("<entity name=\"E\"/>")
        var request = FetchRequestDocument(entityName: "E")
        let predicate = try NSPredicate(parsing: format)
        request.predicate = try predicateTree(of: predicate)
        request.sortTerms = [SortTerm(keyPath: ["name"], ascending: false, comparison: .localizedStandard)]
        document.fetchRequestTemplates["t"] = request
        let data = try ModelArchiveWriter.archive(of: document, form: .compiled).data()
        let read = try ModelArchiveReader.document(of: data)
        #expect(read.fetchRequestTemplates["t"] == request)
        let template = try ModelAssembler.model(read).fetchRequestTemplate(forName: "t")
        #expect(template?.predicate == predicate)
        #expect(template?.sortDescriptors?.first?.key == "name")
    }
}
