// SPDX-License-Identifier: MIT
// own JS allocation test: Buffers, JSON, Map/Set, zlib, crypto (native allocations), worker threads
const zlib=require('zlib'),crypto=require('crypto'),{Worker,isMainThread,workerData,parentPort}=require('worker_threads');
const n=parseInt(isMainThread?process.argv[2]:workerData);
function work(n,seed){const h=crypto.createHash('sha256');let m=new Map();
 for(let i=0;i<n*200;i++){m.set('k'+(i*7919+seed)%5003,{i,a:[i,i+1],s:'x'.repeat(i%50)});}
 h.update(JSON.stringify([...m].slice(0,2000)));
 for(let i=0;i<n;i++){const b=Buffer.alloc(1000+(i*37)%60000,i&255);const z=zlib.deflateSync(b,{level:1});h.update(zlib.inflateSync(z).subarray(0,64));h.update(z);}
 let keep=[];for(let i=0;i<n*4;i++){keep.push(Buffer.allocUnsafeSlow(16+(i*131)%9000).fill(i&255));if(keep.length>500)keep=keep.filter((_,j)=>j%3==0);}
 keep.forEach(b=>h.update(b));return h.digest('hex');}
if(isMainThread){const r=[work(n,1)];let left=2;for(let k=0;k<2;k++){const w=new Worker(__filename,{workerData:String(n)});w.on('message',x=>{r.push(x);if(--left==0){console.log(r.sort().join('\n'));}});w.on('error',e=>{console.error(e);process.exit(3)});}}
else parentPort.postMessage(work(n,2));
