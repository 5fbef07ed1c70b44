module conclave.example/clients/go

go 1.22
